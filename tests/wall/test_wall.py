"""The wall (design law 1): the package keeps it, and the check of it finds every way through."""

from __future__ import annotations

from pathlib import Path

import pytest
from import_graph import read_package
from rooms import ROOMS, room, violations

SOURCE = Path(__file__).parents[2] / "src" / "tacit"


def test_the_wall_stands() -> None:
    graph = read_package(SOURCE)
    assert len(graph.modules) > 20  # it did read the package
    assert list(violations(graph)) == []


def test_every_room_named_in_the_rules_is_one_of_four() -> None:
    assert set(ROOMS.values()) == {"inside", "outside", "shared", "free"}
    graph = read_package(SOURCE)
    assert {room(graph, name) for name in graph.modules} <= set(ROOMS.values())


# Some house that keeps the rules; each case below adds or replaces files and must be found.
LAZY = "def later():\n    {}\n"
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}\n"
LAWS = "from tacit.inference.moments import laws\n"
SOUND = {
    "__init__.py": "def __getattr__(name):\n    from tacit.curator.curator import Curator\n    return Curator\n",
    "errors.py": "class TacitError(Exception): ...\n",
    "queries.py": TYPES.format("from tacit.inference.moments import Moments"),
    "release.py": "import json\nfrom tacit.errors import TacitError\n",
    "noise/__init__.py": "",
    "noise/laws.py": "import numpy as np\ndef f(rng: np.random.Generator): ...\n",
    "noise/exact.py": "import os\nfrom tacit.noise.laws import f\nword = os.urandom(8)\n",
    "curator/__init__.py": "",
    "curator/curator.py": "from tacit.release import json\nfrom tacit.mechanisms import moments\n",
    "curator/source.py": "import sys\ndef open_source():\n    import duckdb\n    return 'pyspark' in sys.modules\n",
    "mechanisms/__init__.py": "",
    "mechanisms/moments.py": "from tacit.noise.exact import word\nfrom tacit.queries import TYPE_CHECKING\n",
    "inference/__init__.py": "",
    "inference/moments.py": "from tacit.noise import laws\nfrom .. import release\nlaws.f\n",
    "plots/__init__.py": "import os\nfrom importlib.metadata import version\n" + LAWS,
    "cli/__init__.py": "from tacit.curator.curator import Curator\nimport tacit\n",
}


def check(folder: Path, changes: dict[str, str]) -> list[str]:
    for path, text in (SOUND | changes).items():
        file = folder / "tacit" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return list(violations(read_package(folder / "tacit")))


def test_a_sound_house_passes(tmp_path: Path) -> None:
    assert check(tmp_path, {}) == []


TWO_STEPS = {"inference/moments.py": "from . import aid\n", "inference/aid.py": LAZY.format("import duckdb")}
BREACHES = {
    # outside
    "outside imports inside": {"inference/moments.py": "from tacit.curator.curator import Curator\n"},
    "outside imports a mechanism": {"inference/moments.py": "import tacit.mechanisms.moments as m\n"},
    "outside, in a function": {"plots/__init__.py": LAZY.format("from tacit.noise.exact import word")},
    "outside, relative": {"inference/moments.py": "from ..curator import curator\n"},
    "outside, in a try": {"plots/__init__.py": "try:\n    import duckdb\nexcept ImportError: ...\n"},
    "outside, engine by part": {"plots/__init__.py": "from pyspark.sql import functions\n"},
    "outside, as an attribute": {"inference/moments.py": "from tacit import noise\nnoise.exact\n"},
    "outside, through the root": {"inference/moments.py": "import tacit\ntacit.Curator\n"},
    "outside, root bound by a part": {"inference/moments.py": "import tacit.errors\n"},
    "outside, a name of the root": {"inference/moments.py": "from tacit import Curator\n"},
    "outside, through glue": {"inference/moments.py": "from tacit.cli import Curator\n"},
    "outside, through its parent package": {
        "parties/x.py": "",
        "parties/__init__.py": "import tacit.curator.curator as c\n",
    },
    "outside, else of TYPE_CHECKING": {"plots/__init__.py": TYPES.format("pass") + "else:\n    import duckdb\n"},
    "outside, two steps": TWO_STEPS,
    "outside, a ledger": {"plots/__init__.py": "import sqlite3\n"},
    # randomness
    "outside, secrets": {"inference/moments.py": "import secrets\n"},
    "outside, os.urandom": {"inference/moments.py": "import os\nos.urandom(1)\n"},
    "outside, urandom by name": {"inference/moments.py": "from os import urandom as u\n"},
    "outside, urandom by text": {"inference/moments.py": "import os\ngetattr(os, 'urandom')\n"},
    "outside, SystemRandom": {"inference/moments.py": "from random import SystemRandom\n"},
    "outside, the device file": {"inference/moments.py": "open('/dev/urandom', 'rb')\n"},
    "glue draws random words": {"cli/__init__.py": "import secrets\n"},
    "inside, a seeded generator": {"mechanisms/moments.py": "import numpy as np\nnp.random.default_rng(1)\n"},
    "inside, a seeded generator by name": {"mechanisms/moments.py": "from numpy.random import default_rng\n"},
    "inside, the module random": {"curator/curator.py": "import random\n"},
    # shared
    "shared imports inside": {"release.py": LAZY.format("from tacit.curator.source import open_source")},
    "shared imports outside": {"release.py": LAZY.format("from tacit.inference.moments import laws")},
    "shared imports an engine": {"noise/laws.py": "import duckdb\n"},
    "noise's package imports its exact part": {"noise/__init__.py": "from tacit.noise.exact import word\n"},
    "shared looks into sys.modules": {"release.py": "import sys\nsys.modules['tacit.curator.curator']\n"},
    # inside
    "inside imports inference": {"mechanisms/moments.py": "from tacit.inference.moments import laws\n"},
    "inside imports plots, lazily": {"curator/curator.py": LAZY.format("import tacit.plots as p")},
    "inside imports inference indirectly": {"release.py": "from tacit.inference import moments\n"},
    "inside imports the command line": {"curator/curator.py": "from tacit.cli import Curator\n"},
    "inside imports the root": {"curator/curator.py": "from tacit import Curator\n"},
    # engines and oracles in one place
    "an engine beside the source": {"curator/curator.py": "import duckdb\n"},
    "the oracle in the package": {"noise/exact.py": LAZY.format("import opendp.prelude as dp")},
    # what cannot be read from the text
    "importlib": {"inference/moments.py": "import importlib\nimportlib.import_module('tacit.curator')\n"},
    "importlib by name": {"inference/moments.py": "from importlib import import_module\n"},
    "__import__": {"cli/__init__.py": "__import__('duckdb')\n"},
    "__import__ under another name": {"cli/__init__.py": "bring = __import__\n"},
    "exec": {"cli/__init__.py": "exec('import duckdb')\n"},
    "eval": {"cli/__init__.py": "eval('1')\n"},
    "star import": {"inference/moments.py": "from tacit.errors import *\n"},
    "pickle": {"inference/moments.py": "import pickle\n"},
    "a module without a room": {"attic.py": ""},
}


@pytest.mark.parametrize("changes", BREACHES.values(), ids=BREACHES.keys())
def test_every_way_through_is_found(tmp_path: Path, changes: dict[str, str]) -> None:
    found = check(tmp_path, changes)
    assert found, "a breach went unseen"
    places = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in changes]
    assert any(f"tacit.{place}" in line for line in found for place in places), found


def test_what_is_said_names_the_chain(tmp_path: Path) -> None:
    lines = check(tmp_path, TWO_STEPS)
    assert "outside must not reach this: tacit.inference.moments -> tacit.inference.aid -> duckdb" in lines

"""The wall (design law 1): the package keeps it, and the check of it finds every way through."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from import_graph import Graph, read_package
from rooms import ROOMS, room, violations

SOURCE = Path(__file__).parents[2] / "src" / "tacit"


@cache
def package() -> Graph:
    """The imports of the library, read once for all tests."""
    return read_package(SOURCE)


def test_the_wall_stands() -> None:
    graph = package()
    assert len(graph.modules) > 20  # it did read the package
    assert list(violations(graph)) == []


def test_every_room_named_in_the_rules_is_one_of_four() -> None:
    assert set(ROOMS.values()) == {"inside", "outside", "shared", "free"}
    graph = package()
    assert {room(graph, name) for name in graph.modules} <= set(ROOMS.values())


# Some house that keeps the rules; each case below adds or replaces files and must be found.
LAZY = "def later():\n    {}\n"
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}\n"
LAWS = "from tacit.estimates.moments import laws\n"
SOUND = {
    "__init__.py": "def __getattr__(name):\n    from tacit.curator.curator import Curator\n    return Curator\n",
    "errors.py": "class TacitError(Exception): ...\n",
    "release/query.py": TYPES.format("from tacit.estimates.moments import Moments") + "from typing import Any\n",
    "release/document.py": "import json\nfrom tacit.errors import TacitError\n",
    "noise/__init__.py": "",
    "noise/laws.py": "import numpy as np\ndef f(rng: np.random.Generator): ...\n",
    "noise/exact.py": "import os\nfrom tacit.noise.laws import f\nword = os.urandom(8)\n",
    "curator/__init__.py": "",
    "curator/curator.py": "from tacit.release.document import json\nfrom tacit.method.moments import mechanism\n",
    "source/table.py": "import sys\ndef open_source():\n    import duckdb\n    return 'pyspark' in sys.modules\n",
    "method/__init__.py": "",
    "method/moments/mechanism.py": "from tacit.noise.exact import word\nfrom tacit.release.query import Any\n",
    "estimates/__init__.py": "",
    "estimates/moments.py": "from tacit.noise import laws\nfrom ..release import document\nlaws.f\n",
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


TWO_STEPS = {"estimates/moments.py": "from . import aid\n", "estimates/aid.py": LAZY.format("import duckdb")}
BREACHES = {
    # outside
    "outside imports inside": {"estimates/moments.py": "from tacit.curator.curator import Curator\n"},
    "outside imports a mechanism": {"estimates/moments.py": "import tacit.method.moments.mechanism as m\n"},
    "outside, in a function": {"plots/__init__.py": LAZY.format("from tacit.noise.exact import word")},
    "outside, relative": {"estimates/moments.py": "from ..curator import curator\n"},
    "outside, in a try": {"plots/__init__.py": "try:\n    import duckdb\nexcept ImportError: ...\n"},
    "outside, engine by part": {"plots/__init__.py": "from pyspark.sql import functions\n"},
    "outside, as an attribute": {"estimates/moments.py": "from tacit import noise\nnoise.exact\n"},
    "outside, through the root": {"estimates/moments.py": "import tacit\ntacit.Curator\n"},
    "outside, root bound by a part": {"estimates/moments.py": "import tacit.errors\n"},
    "outside, a name of the root": {"estimates/moments.py": "from tacit import Curator\n"},
    "outside, through glue": {"estimates/moments.py": "from tacit.cli import Curator\n"},
    "outside, through its parent package": {
        "parties/x.py": "",
        "parties/__init__.py": "import tacit.curator.curator as c\n",
    },
    "outside, else of TYPE_CHECKING": {"plots/__init__.py": TYPES.format("pass") + "else:\n    import duckdb\n"},
    "outside, two steps": TWO_STEPS,
    "outside, a ledger": {"plots/__init__.py": "import sqlite3\n"},
    # randomness
    "outside, secrets": {"estimates/moments.py": "import secrets\n"},
    "outside, os.urandom": {"estimates/moments.py": "import os\nos.urandom(1)\n"},
    "outside, urandom by name": {"estimates/moments.py": "from os import urandom as u\n"},
    "outside, urandom by text": {"estimates/moments.py": "import os\ngetattr(os, 'urandom')\n"},
    "outside, SystemRandom": {"estimates/moments.py": "from random import SystemRandom\n"},
    "outside, the device file": {"estimates/moments.py": "open('/dev/urandom', 'rb')\n"},
    "glue draws random words": {"cli/__init__.py": "import secrets\n"},
    "inside, a seeded generator": {"method/moments/mechanism.py": "import numpy as np\nnp.random.default_rng(1)\n"},
    "inside, a seeded generator by name": {"method/moments/mechanism.py": "from numpy.random import default_rng\n"},
    "inside, the module random": {"curator/curator.py": "import random\n"},
    # shared
    "shared imports inside": {"release/document.py": LAZY.format("from tacit.source.table import open_source")},
    "shared imports outside": {"release/document.py": LAZY.format("from tacit.estimates.moments import laws")},
    "shared imports an engine": {"noise/laws.py": "import duckdb\n"},
    "noise's package imports its exact part": {"noise/__init__.py": "from tacit.noise.exact import word\n"},
    "shared looks into sys.modules": {"release/document.py": "import sys\nsys.modules['tacit.curator.curator']\n"},
    # inside
    "inside imports inference": {"method/moments/mechanism.py": "from tacit.estimates.moments import laws\n"},
    "inside imports plots, lazily": {"curator/curator.py": LAZY.format("import tacit.plots as p")},
    "inside imports inference indirectly": {"release/document.py": "from tacit.estimates import moments\n"},
    "inside imports the command line": {"curator/curator.py": "from tacit.cli import Curator\n"},
    "inside warns": {"method/moments/mechanism.py": LAZY.format("import warnings")},
    "inside warns by name": {"noise/exact.py": "from warnings import warn\nimport os\nword = os.urandom(8)\n"},
    "inside logs": {"curator/curator.py": "import logging\n"},
    "inside imports the root": {"curator/curator.py": "from tacit import Curator\n"},
    # engines and oracles in one place
    "an engine beside the source": {"curator/curator.py": "import duckdb\n"},
    "the oracle in the package": {"noise/exact.py": LAZY.format("import opendp.prelude as dp")},
    # what cannot be read from the text
    "importlib": {"estimates/moments.py": "import importlib\nimportlib.import_module('tacit.curator')\n"},
    "importlib by name": {"estimates/moments.py": "from importlib import import_module\n"},
    "__import__": {"cli/__init__.py": "__import__('duckdb')\n"},
    "__import__ under another name": {"cli/__init__.py": "bring = __import__\n"},
    "exec": {"cli/__init__.py": "exec('import duckdb')\n"},
    "eval": {"cli/__init__.py": "eval('1')\n"},
    "star import": {"estimates/moments.py": "from tacit.errors import *\n"},
    "pickle": {"estimates/moments.py": "import pickle\n"},
    "a module without a room": {"attic.py": ""},
    # rooms of methods go by file name
    "outside imports a part of a mechanism": {
        "method/moments/mechanism_sums.py": "",
        "estimates/moments.py": "from tacit.method.moments.mechanism_sums import f\n",
    },
    "a design imports its mechanism": {"method/moments/design.py": "from tacit.method.moments.mechanism import word\n"},
    "a question imports an estimate": {
        "method/moments/estimate.py": "",
        "method/moments/query.py": "from tacit.method.moments.estimate import f\n",
    },
    "a mechanism imports an estimate": {
        "method/moments/estimate_more.py": "",
        "method/moments/mechanism.py": "from tacit.method.moments.estimate_more import f\n",
    },
    "a folder of estimates is outside": {"method/moments/estimate_parts/cells.py": "import duckdb\n"},
    # openers open what they may
    "the registry opens a mechanism": {
        "release/registry.py": "from importlib import import_module\nimport_module('tacit.method.moments.mechanism')\n"
    },
    "the registry opens the curator": {
        "release/registry.py": "from importlib import import_module\nimport_module('tacit.curator.curator')\n"
    },
    "an opener opens whatever it is given": {
        "curator/mechanisms.py": "from importlib import import_module as bring\ndef f(x):\n    return bring(x)\n"
    },
}


@pytest.mark.parametrize("changes", BREACHES.values(), ids=BREACHES.keys())
def test_every_way_through_is_found(tmp_path: Path, changes: dict[str, str]) -> None:
    found = check(tmp_path, changes)
    assert found, "a breach went unseen"
    places = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in changes]
    assert any(f"tacit.{place}" in line for line in found for place in places), found


def test_what_is_said_names_the_chain(tmp_path: Path) -> None:
    lines = check(tmp_path, TWO_STEPS)
    assert "outside must not reach this: tacit.estimates.moments -> tacit.estimates.aid -> duckdb" in lines

"""A room imports only rooms below it, imports make no cycle, and rooms of methods do not import each other."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from floors import (
    DOOR,
    FLOORS,
    ROOMS,
    TYPES,
    House,
    describe_cycle,
    describe_import_across_methods,
    describe_upward_import,
)

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tacit"

# Exceptions that are still to be removed.  These lists may only shrink: an entry that is no longer needed fails, too.
UPWARD: Final[Mapping[str, frozenset[str]]] = {"study.study": frozenset({"parties", "planning"})}
"""Modules and the higher rooms that they may import for now."""
CLOSING_CYCLES: Final[frozenset[tuple[str, str]]] = frozenset()
"""Imports in functions, (importer, imported), that may close a cycle for now."""
ACROSS_METHODS: Final[frozenset[tuple[str, str]]] = frozenset(
    {("method.blocks.estimate_distribution", "method.histogram.estimate")}
)
"""Imports from one method's room to another's that may stand for now."""


@pytest.fixture(scope="module")
def house() -> House:
    return House.read(SOURCE)


def test_the_package_was_read(house: House) -> None:
    assert len(house.modules) > 300
    assert len(house.imports) > 2_000
    assert house.without_floor() == []
    assert {house.room(one) for one in house.modules} == set(FLOORS)


def test_rooms_import_only_what_stands_below_them(house: House) -> None:
    upward = [one for one in house.upward_imports() if house.room(one.imported) not in UPWARD.get(one.pair[0], ())]
    assert [describe_upward_import(house, one) for one in upward] == []


def test_every_allowed_upward_import_still_exists(house: House) -> None:
    there = {(one.pair[0], house.room(one.imported)) for one in house.upward_imports()}
    assert {(one, above) for one, rooms in UPWARD.items() for above in rooms} - there == set()


def test_the_picture_is_drawn_from_these_imports() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "house.py"))
    stored = (ROOT / "docs" / "explanation" / "house.svg").read_text(encoding="utf-8")
    assert script["picture"]() == stored, "run: python scripts/house.py"


def test_the_picture_shows_the_sides_of_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "wall")
    sides = runpy.run_path(str(ROOT / "tests" / "wall" / "rooms.py"))["ROOMS"]
    split = {"noise", "method", "holdout"}
    wall = {one.name: "by file" if one.name.split(".")[0] in split else sides.get(one.name) for one in ROOMS}
    assert {one.name: one.side for one in ROOMS if one.name != DOOR} == {k: v for k, v in wall.items() if k != DOOR}


def test_runtime_imports_make_no_cycle(house: House) -> None:
    assert [describe_cycle(chain) for chain in house.cycles(CLOSING_CYCLES)] == []


def test_every_import_that_may_close_a_cycle_closes_one(house: House) -> None:
    assert house.unneeded(CLOSING_CYCLES) == []


SUB_ROOMS: Final = (
    ("fits", ("cells", "solvers", "heaps", "within_bins")),
    ("source", ("reading", "engines", "engine_sums", "in_memory", "raw_text")),
)
"""Of two sub-rooms the first never imports the second; what stands directly in the room may import them all."""


@pytest.mark.parametrize(("room", "order"), SUB_ROOMS)
def test_sub_rooms_import_those_before_them(house: House, room: str, order: tuple[str, ...]) -> None:
    assert {path.parent.name for path in (SOURCE / room).glob("*/__init__.py")} == set(order)
    place = {name: i for i, name in enumerate(order)}

    def sub_room(module: str) -> int | None:
        parts = module.split(".")
        return place.get(parts[1]) if parts[0] == room and len(parts) > 2 else None

    pairs = [one.pair for one in house.imports if one.written]
    places = [(pair, sub_room(pair[0]), sub_room(pair[1])) for pair in pairs]
    between = [(pair, i, j) for pair, i, j in places if i is not None and j is not None and i != j]
    assert between, "imports between sub-rooms are found"
    assert [pair for pair, i, j in between if i < j] == []


def test_methods_do_not_import_each_other(house: House) -> None:
    assert [
        describe_import_across_methods(house, one)
        for one in house.imports_across_methods()
        if one.pair not in ACROSS_METHODS
    ] == []


def test_every_allowed_import_across_methods_still_exists(house: House) -> None:
    assert ACROSS_METHODS - {one.pair for one in house.imports_across_methods()} == set()


# That breaches are found --------------------------------------------------------------------------------------------

TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}\n"
LATER = "def later():\n    {}\n"
SOUND = {
    "__init__.py": "from tacit.errors import TacitError\ndef __getattr__(name):\n    from tacit.plots import forest\n",
    "errors.py": "class TacitError(Exception): ...\n",
    "noise/__init__.py": "",
    "noise/laws.py": "import numpy as np\nfrom ..errors import TacitError\n"
    + TYPED.format("from tacit.noise.draws import d"),
    "noise/draws.py": "from tacit.noise import laws\nd = laws.np\n",
    "schema/__init__.py": "from tacit.schema.table import Table\n",
    "schema/table.py": "from tacit.noise.laws import np\nclass Table: ...\n",
    "plots/__init__.py": "",
    "plots/forest.py": "import tacit.errors\n" + LATER.format("from tacit.schema.table import Table"),
    "method/__init__.py": "",
    "method/shared/forms.py": "from tacit.schema import Table\n",
    "method/moments/design.py": "from tacit.method.shared.forms import Table\n",
    "method/ranges/design.py": "from tacit.method.shared import forms\nfrom tacit.method.ranges import query\n",
    "method/ranges/query.py": "from tacit.plots.forest import later\n",
    "cli/__init__.py": "import tacit\n",
}


def planted(folder: Path, changes: Mapping[str, str]) -> House:
    for path, text in (SOUND | changes).items():
        file = folder / "tacit" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return House.read(folder / "tacit")


def test_a_sound_house_has_nothing_wrong(tmp_path: Path) -> None:
    made = planted(tmp_path, {})
    assert (made.without_floor(), made.upward_imports(), made.imports_across_methods(), made.cycles()) == (
        [],
        [],
        [],
        [],
    )
    assert any(one.kind == TYPES for one in made.imports)


UPWARD_CASES = {
    "at module level": ("noise/laws.py", "import numpy as np\nfrom tacit.plots import forest\n", 2, "plots.forest"),
    "in a function": ("noise/laws.py", LATER.format("from tacit.schema import Table"), 2, "schema"),
    "in a method of a class": (
        "errors.py",
        "class E:\n    def f(self):\n        import tacit.noise.laws\n",
        3,
        "noise.laws",
    ),
    "relatively": ("schema/table.py", "class Table: ...\nfrom ..plots.forest import later\n", 2, "plots.forest"),
    "for types only": (
        "schema/table.py",
        TYPED.format("from tacit.method.moments import design"),
        3,
        "method.moments.design",
    ),
    "by what methods share": (
        "method/shared/forms.py",
        "from tacit.method.moments.design import Table\n",
        1,
        "method.moments.design",
    ),
    "to the door": ("plots/forest.py", LATER.format("import tacit as tc"), 2, ""),
}


@pytest.mark.parametrize("case", UPWARD_CASES)
def test_an_upward_import_is_found(tmp_path: Path, case: str) -> None:
    path, text, line, target = UPWARD_CASES[case]
    made = planted(tmp_path, {path: text})
    (one,) = made.upward_imports()
    importer = path.removesuffix(".py").replace("/", ".")
    assert (one.importer, one.line) == (f"tacit.{importer}", line)
    assert one.imported == (f"tacit.{target}" if target else "tacit")
    said = describe_upward_import(made, one)
    assert said.startswith(f"tacit.{importer}:{line} imports {one.imported}, ")
    assert said.endswith("a room imports only rooms that stand before it")


CYCLES = {
    "at module level": {"noise/laws.py": "from tacit.noise.draws import d\n"},
    "in a function": {"noise/laws.py": LATER.format("from tacit.noise import draws")},
    "of three": {
        "noise/laws.py": LATER.format("from tacit.noise.third import x"),
        "noise/third.py": "from tacit.noise.draws import d\n",
    },
    "by the __init__ of a package": {"noise/laws.py": LATER.format("from tacit.schema import column")}
    | {"schema/column.py": ""},
    "else of TYPE_CHECKING": {"noise/laws.py": TYPED.format("pass") + "else:\n    from tacit.noise.draws import d\n"},
}


@pytest.mark.parametrize("case", CYCLES)
def test_a_cycle_is_found(tmp_path: Path, case: str) -> None:
    made = planted(tmp_path, CYCLES[case])
    (chain,) = made.cycles()
    assert chain[-1].imported == chain[0].importer
    assert any(one.importer == "tacit.noise.laws" for one in chain)
    said = describe_cycle(chain)
    assert all(f"{one.importer}:{one.line} imports {one.imported}" in said for one in chain)
    assert said.endswith("imports that run make no cycle, those in functions among them")


def test_an_allowed_import_closes_no_cycle_and_is_needed_as_long_as_it_would(tmp_path: Path) -> None:
    pair = ("noise.laws", "noise.draws")
    made = planted(tmp_path, {"noise/laws.py": LATER.format("from tacit.noise.draws import d")})
    assert made.cycles({pair}) == []
    assert made.unneeded({pair}) == []
    assert planted(tmp_path, {}).unneeded({pair}) == [pair]  # for types only: gone
    straight = {"noise/laws.py": LATER.format("from tacit.noise.draws import d"), "noise/draws.py": "d = 1\n"}
    assert planted(tmp_path, straight).unneeded({pair}) == [pair]  # there, and closes none


@pytest.mark.parametrize(
    "text", ["from tacit.method.moments.design import Table\n", TYPED.format("from ..moments import design")]
)
def test_a_method_that_imports_another_is_found(tmp_path: Path, text: str) -> None:
    made = planted(tmp_path, {"method/ranges/query.py": text})
    (one,) = made.imports_across_methods()
    assert one.pair == ("method.ranges.query", "method.moments.design")
    assert describe_import_across_methods(made, one).startswith(
        f"tacit.method.ranges.query:{one.line} imports tacit.method.moments.design, "
    )


def test_a_room_without_a_floor_is_found(tmp_path: Path) -> None:
    (said,) = planted(tmp_path, {"attic/__init__.py": ""}).without_floor()
    assert said.startswith("tacit.attic is in no room that has a floor")

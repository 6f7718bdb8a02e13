"""The repository keeps its promises: codes, citations, versions, sizes, and nothing of one machine in it."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import subprocess
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import tacit
from tacit.errors import CODES
from tacit.release.registry import METHODS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tacit"
CODE = re.compile(r"[A-Z]\d{2,3}")
HEADINGS = ("Definition", "Sensitivity", "Noise", "Cost", "Failures")
# Addresses of registries, and folders of one machine.  Written so that this file does not match itself.
FOREIGN = [
    r"py[p]i\.org",
    r"python[h]osted",
    r"registry\.[n]pm",
    r"cran\.[r]-project",
    r"[i]ndex-url",
    r"--find[-]links",
    r"trusted[-]host",
    r"(?<![\w.])/(root|home|work|Users)[/]\w",
]
LONGEST = 400


@cache
def tracked() -> list[Path]:
    """Text files under version control."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    binary = {".png", ".parquet", ".ico"}
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.exists() and path.suffix not in binary]


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """A file of the package, parsed once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def test_nothing_of_one_machine_is_tracked() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in tracked()
        for word in FOREIGN
        if re.search(word, path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_nothing_confidential_or_built_is_tracked() -> None:
    wrong = [path.name for path in tracked() if re.search(r"\.(ledger|log|pyc|sqlite|db)$|\.release\.json$", path.name)]
    assert wrong == []


@cache
def codes_used() -> dict[str, set[str]]:
    """Every text that looks like a code in the source, with its files; the catalogue itself left out."""
    used: dict[str, set[str]] = {}
    for path in sources():
        nodes = list(ast.walk(tree_of(path)))
        dictionaries = [node for node in nodes if isinstance(node, ast.Dict)] if path.name == "error_codes.py" else []
        catalogue = {id(key) for node in dictionaries for key in node.keys}
        for node in nodes:
            text = node.value if isinstance(node, ast.Constant) and id(node) not in catalogue else None
            if isinstance(text, str) and CODE.fullmatch(text.strip("[ ]").rpartition("[")[2]):
                used.setdefault(text.strip("[ ]").rpartition("[")[2], set()).add(path.name)
    return used


def test_every_code_raised_is_in_the_catalogue() -> None:
    assert {code: files for code, files in codes_used().items() if code not in CODES} == {}


def test_every_code_of_the_catalogue_is_raised() -> None:
    assert sorted(set(CODES) - set(codes_used())) == []


def test_codes_are_in_their_area_and_have_a_title() -> None:
    areas = runpy.run_path(str(ROOT / "scripts" / "site.py"))["AREAS"]
    assert {code[0] for code in CODES} <= set(areas)
    assert all(CODE.fullmatch(code) and title and not title.endswith(".") for code, title in CODES.items())


def test_every_code_shown_in_the_texts_exists() -> None:
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    shown = {code for path in texts for code in re.findall(r"\[([A-Z]\d{2,3})\]", path.read_text(encoding="utf-8"))}
    assert shown
    assert shown <= set(CODES)


def test_every_section_cited_exists() -> None:
    """`theory §12` in the code is a heading of the page of the mathematics, `law 7` a law of the house."""
    pages = ROOT / "docs" / "explanation"
    sections = set(re.findall(r"^#+ §([\d.]+)", (pages / "theory.md").read_text(encoding="utf-8"), re.MULTILINE))
    laws = set(re.findall(r"^(\d+)\. \*\*", (pages / "laws.md").read_text(encoding="utf-8"), re.MULTILINE))
    missing: list[str] = []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        cited = {number for group in re.findall(r"theory ((?:§[\d.]+[,; and]*)+)", text) for number in _numbers(group)}
        missing += [f"{path.name}: §{number}" for number in cited - sections]
        missing += [f"{path.name}: law {number}" for number in set(re.findall(r"\blaw (\d+)\b", text)) - laws]
    assert len(laws) == 10
    assert missing == []


def _numbers(group: str) -> list[str]:
    return [number.rstrip(".") for number in re.findall(r"§([\d.]+)", group)]


def mechanisms() -> list[Path]:
    """Files of methods' rooms that state a privacy argument."""
    found = sorted((SOURCE / "method").glob("*/mechanism*.py"))
    return [path for path in found if "\nSensitivity\n" in path.read_text("utf-8")]


def test_every_method_states_its_privacy_argument() -> None:
    assert {path.parent.name for path in mechanisms()} - {"shared"} == {method.room for method in METHODS}


@pytest.mark.parametrize("path", mechanisms(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_mechanism_has_its_five_headings_in_order(path: Path) -> None:
    said = ast.get_docstring(tree_of(path)) or ""
    lines = [line for line in said.splitlines() if line in HEADINGS]
    assert tuple(lines) == HEADINGS


def test_files_are_short_enough_to_read() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in sources()}
    assert {name: lines for name, lines in long.items() if lines > LONGEST} == {}


def test_no_two_files_have_one_name_and_no_two_classes() -> None:
    fixed = {*runpy.run_path(str(ROOT / "scripts" / "house.py"))["FIXED"], "__init__"}
    files = Counter(path.stem for path in SOURCE.rglob("*.py"))
    assert {name: count for name, count in files.items() if count > 1 and name not in fixed} == {}
    classes = Counter(
        node.name for tree in map(tree_of, sources()) for node in tree.body if isinstance(node, ast.ClassDef)
    )
    assert len(classes) > 300
    assert {name: count for name, count in classes.items() if count > 1} == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(path.relative_to(ROOT)) for path in sources() if not ast.get_docstring(tree_of(path))]
    assert silent == []


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert tacit.__version__ == project["version"] == cited[1]
    assert f"\n## {tacit.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_constraints_are_plain_versions_of_everything_named() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.+!-]+", line)] == []
    pinned = {_plain(line.partition("==")[0]) for line in lines}
    assert len(pinned) == len(lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *(word for words in project["optional-dependencies"].values() for word in words)]
    wanted = {_plain(re.split(r"[\[<>=!~ ]", word)[0]) for word in named} - {"tacit"}
    assert wanted - pinned == set()


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_commands_in_the_texts_are_targets_of_make() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    asked = {word for path in texts for word in re.findall(r"[`$] ?make ([a-z]+)", path.read_text(encoding="utf-8"))}
    assert {"demo", "test"} <= asked
    assert asked <= targets


def test_ci_runs_the_command_of_the_readme() -> None:
    run = ROOT / ".ci" / "run"
    assert run.stat().st_mode & 0o111
    assert run.read_text(encoding="utf-8").rstrip().endswith("make test")
    assert "\n$ make test\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_command_is_on_its_page() -> None:
    """The page is made from the commands' own help when the site is built; the marker must be there."""
    site = runpy.run_path(str(ROOT / "scripts" / "site.py"))
    assert "<!-- commands -->" in (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    names = set(site["command_help"]())
    page = site["commands"]()
    assert {"demo", "schema", "check", "import", "plan", "release", "keys", "keys new", "show", "budget"} <= names
    assert [name for name in names - {""} if f"\n## tacit {name}\n" not in page] == []


def test_the_page_of_errors_lists_every_code() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "site.py"))["error_codes"]()
    assert "<!-- error codes -->" in (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f'<span id="{code}"></span>' not in page] == []

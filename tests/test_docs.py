"""Every example on every page runs, in the order of the page, in one namespace and one empty folder.

What a page may hold:

- a `python` block is run; hidden ones stand in an HTML comment that starts with `python`;
- a `pycon` block (`>>> `) is run and its output compared, as in a docstring;
- a block with `title="prints"` is what the `python` blocks since the last such block print, numbers aside (noise);
- a block with `title="name"` in any other language is a file, written before what follows is run;
- a `console` block: lines `$ tacit …` are run and must leave with 0, or with n where the line ends in `# exit n`; lines
  that follow, if any, must be what is printed, where `…` stands for anything.  `$ make …` and `$ pip …` are not run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from in_process import inside

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OPENING = re.compile(r"^(?P<indent> *)(?P<fence>```+)(?P<info>[^`]*)$")
TITLE = re.compile(r'title="([^"]+)"')
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    text: str
    line: int  # of its first line of text, from 1


def blocks(text: str) -> Iterator[Block]:
    """Fenced blocks of a page and hidden ones, in order."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        found = OPENING.match(lines[at])
        hidden = lines[at].strip() == "<!-- python"
        at += 1
        if not found and not hidden:
            continue
        end = "-->" if hidden else found["fence"]  # type: ignore[index]
        first = at
        while at < len(lines) and lines[at].strip() != end:
            at += 1
        indent = 0 if found is None else len(found["indent"])
        body = "\n".join(line[indent:] for line in lines[first:at]) + "\n"
        info = "python" if found is None else found["info"].strip()
        title = TITLE.search(info)
        yield Block(info.split(" ")[0] if info else "", title[1] if title else None, body, first + 1)
        at += 1


def run_page(page: Path) -> int:
    """Runs a page in the current folder; returns how many blocks ran."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    ran = 0
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page.name}:{block.line}"
        if block.title == "prints":
            assert _shape(block.text) == _shape(printed.getvalue()), (
                f"{where}: what is printed is\n{printed.getvalue()}"
            )
            printed = io.StringIO()
        elif block.title is not None and block.language != "python":
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        elif block.language == "pycon":
            _doctest(block, names, where)
        elif block.language == "console":
            _console(block, where)
        else:
            continue
        ran += 1
    return ran


def _doctest(block: Block, names: dict[str, Any], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line - 1)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(report)


def _console(block: Block, where: str) -> None:
    for command, expected in _commands(block.text):
        words = shlex.split(command, comments=True)
        if words[0] in {"make", "pip"}:
            continue
        assert words[0] == "tacit", f"{where}: only tacit, make and pip are known, not {words[0]}"
        code = re.search(r"# exit (\d)$", command)
        left, out, err = inside(Path.cwd(), *words[1:], columns=120)
        said = out + err
        assert left == (int(code[1]) if code else 0), f"{where}: {command}\n{said}"
        if expected:
            assert _fits(expected, said), f"{where}: {command}\nexpected\n{expected}\ngot\n{said}"


def _commands(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command.strip(), expected.strip()


def _shape(text: str) -> str:
    """Words in order: digits, signs and the padding around them follow the noise, within brackets of arrays too."""
    words = " ".join(re.sub(r"-?\d[\d,.]*(e-?\d+)?", "#", text).split())
    return words.replace("[ ", "[").replace(" ]", "]")


def test_arrays_may_be_padded() -> None:
    assert _shape("[1.3 6. ]") == _shape("[1.2 5.5]") == _shape("[-1.25  16.5 ]") != _shape("[1.2]")


def _fits(expected: str, said: str) -> bool:
    pattern = ".*".join(re.escape(" ".join(piece.split())) for piece in expected.split("…"))
    return re.search(pattern, " ".join(said.split()), flags=re.DOTALL) is not None


LONG = {"docs/reference/testing.md", "docs/howto/likelihoods.md"}
"""Pages whose examples take 20 seconds each: a whole contract, and functions that are compiled."""
CASES = [pytest.param(page, marks=pytest.mark.long) if str(page.relative_to(ROOT)) in LONG else page for page in PAGES]


@pytest.mark.parametrize("page", CASES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run_page(page)
    assert ran == sum(
        block.language in {"python", "pycon", "console"} or block.title is not None
        for block in blocks(page.read_text(encoding="utf-8"))
    )


SOUND = """
<!-- python
start = 2
-->
```toml title="made/a.toml"
a = 1
```

1. In a list:

    ```python
    import pathlib
    text = pathlib.Path("made/a.toml").read_text()
    ```

```pycon
>>> text.strip(), start
('a = 1', 2)
```
"""


def test_the_runner_runs_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(SOUND, encoding="utf-8")
    assert run_page(tmp_path / "page.md") == 4


@pytest.mark.parametrize(
    "text",
    [
        "```python\n1 / 0\n```\n",
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```console\n$ rm x\n```\n",
        "<!-- python\n1 / 0\n-->\n",
    ],
)
def test_the_runner_fails_where_it_should(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run_page(tmp_path / "page.md")


def test_output_is_compared_up_to_dots() -> None:
    assert _fits("cost ρ = … of 0.50", "the  cost ρ = 0.01, left 0.49\nof 0.50.")
    assert not _fits("cost ρ = … of 0.60", "cost ρ = 0.01, left 0.49 of 0.50")


def test_links_between_pages_lead_somewhere() -> None:
    """The site's own build checks pages inside docs/; this one checks README and the texts beside it."""
    broken: list[str] = []
    for page in ROOT.glob("*.md"):
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            if not (ROOT / target).exists():
                broken.append(f"{page.name} -> {target}")
    assert broken == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    pages = [str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert [page for page in pages if page not in navigation] == []

"""Table: a small value that is rendered as text, HTML, Markdown, LaTeX, CSV or JSON, the same on every run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from types import FunctionType
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

from tacit.base.arguments import named_arguments
from tacit.base.json_text import write_text
from tacit.base.latex_signs import LATEX
from tacit.base.other_words import knows_other_words
from tacit.errors import FileError, InferenceError

Align: TypeAlias = Literal["left", "right"]
SUFFIXES: Final = (".txt", ".html", ".md", ".tex", ".csv", ".json")
SHOWN: Final = 60
"""Rows of a table that a screen shows; of a longer one the first HEAD and the last TAIL."""
NAME: Final = 48
"""Columns of a terminal that a heading of terms takes at most where no term is longer."""
HEAD: Final = 20
TAIL: Final = 10
REST: Final = "summary().to_text(), or summary().save('table.csv')"
"""What shows all rows of a table that was shortened."""
DASHED: Final = {"estimate": "estimate", "std. error": "std_error", "of which privacy": "privacy_share"}
"""Headings of columns whose cells may be dashes, and the columns of frames with their numbers."""
# Styles of HTML, in the elements themselves: notebooks and mail programs drop or override style sheets.
_TABLE: Final = "border-collapse:collapse;border-top:2px solid;border-bottom:2px solid;margin:1em 0;width:auto"
_TITLE: Final = "caption-side:top;text-align:left;font-weight:bold;padding:.3em .6em"
_LINE: Final = "border-bottom:1px solid"
_ROW: Final = "background:none;border:0"
_CELL: Final = "padding:.25em .6em;vertical-align:baseline"
_NUMBER: Final = ";white-space:nowrap;font-variant-numeric:tabular-nums"
_NOTE: Final = "padding:.15em .6em;text-align:left;font-size:85%"
_FOLDED: Final = "max-width:42em"  # a long note does not draw the columns apart
MARKDOWN: Final = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|"})


@knows_other_words
@dataclass(frozen=True)
class Table:
    """Rows of cells under column headings, with a title and notes.

    Cells are displayed by `str`; `align` has one side for each column, and is empty for the default (`sides`).  `print`
    and notebooks shorten a table of more than SHOWN rows to its head and tail; `to_text()`, the other forms and files
    have all of them.

    >>> table = Table("Ages", ("sex", "mean"), (("f", "45.02"), ("m", "44.1")), ("made up",))
    >>> print(table)
    Ages
    sex   mean
    f    45.02
    m     44.1
    made up
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    notes: tuple[str, ...] = ()
    align: tuple[Align, ...] = ()

    @property
    def sides(self) -> tuple[Align, ...]:
        """Return the alignment of each column: by default the first to the left and the others to the right."""
        return self.align or tuple("right" if i else "left" for i in range(len(self.columns)))

    def cells(self) -> list[list[str]]:
        """Return all cells as text, None as an empty one."""
        return [["" if cell is None else str(cell) for cell in row] for row in self.rows]

    def shortened(self, rows: int = SHOWN, rest: str = REST) -> Table:
        """Return the table; of one with more than `rows` the head and the tail, and a note on what is left out.

        rest: in the note, what shows all rows.

        >>> long = Table("Squares", ("n", "square"), tuple((n, f"{n * n:,}") for n in range(100)))
        >>> print(long.shortened(3))
        Squares
        n   square
        0        0
        1        1
        …        …
        99   9,801
        97 of 100 rows are not shown: summary().to_text(), or summary().save('table.csv')
        """
        if len(self.rows) <= rows:
            return self
        head = HEAD if rows == SHOWN else -(-2 * rows // 3)
        tail = TAIL if rows == SHOWN else rows - head
        gap: tuple[object, ...] = ("…",) * len(self.columns)
        kept = (*self.rows[:head], gap, *self.rows[len(self.rows) - tail :])
        note = f"{len(self.rows) - head - tail:,} of {len(self.rows):,} rows are not shown: {rest}"
        return replace(self, rows=kept, notes=(note, *self.notes))

    def to_text(self) -> str:
        """Return plain text with aligned columns, two spaces apart; all rows, of which `print` shows SHOWN at most."""
        cells = self.cells()
        # the name of a column of the data may be a question of a survey: it stands in full in the title
        first = max((display_width(row[0]) for row in cells), default=0)
        body = [[_cut(self.columns[0], max(first, NAME)), *self.columns[1:]], *cells] if self.columns else [*cells]
        widths = [max(display_width(row[i]) for row in body) for i in range(len(self.columns))]
        lines = ["  ".join(_padded(*one) for one in zip(row, widths, self.sides, strict=True)).rstrip() for row in body]
        return "\n".join([*([self.title] if self.title else []), *lines, *self.notes])

    def to_markdown(self) -> str:
        """Return a Markdown pipe table, with the title in bold above and each note as a paragraph below."""
        rules = ["---:" if side == "right" else ":---" for side in self.sides]
        head, *body = [[cell.translate(MARKDOWN) for cell in row] for row in [list(self.columns), *self.cells()]]
        lines = ["| " + " | ".join(row) + " |" for row in [head, rules, *body]]
        title = [f"**{self.title.translate(MARKDOWN)}**", ""] if self.title else []
        notes = [line for note in self.notes for line in ("", note.translate(MARKDOWN))]
        return "\n".join([*title, *lines, *notes]) + "\n"

    def to_html(self) -> str:
        """Return an HTML table, with the title as its caption and the notes in its foot.

        Its style is written into the elements, so that notebooks, mails and Word show it alike; it takes its colours
        from the page, dark ones too, and a table that is too wide scrolls.
        """
        cells = [f"{_CELL};text-align:{side}{_NUMBER if side == 'right' else ''}" for side in self.sides]
        head = "".join(
            f'<th scope="col" style="{s}">{escape(c)}</th>' for c, s in zip(self.columns, cells, strict=True)
        )
        rows = "".join(
            f'<tr style="{_ROW}">'
            + "".join(f'<td style="{s}">{escape(c)}</td>' for c, s in zip(row, cells, strict=True))
            + "</tr>"
            for row in self.cells()
        )
        span = len(self.columns)
        foot = "".join(
            f'<tr style="{_ROW}"><td colspan="{span}" style="{_NOTE}">'
            f'<div style="{_FOLDED}">{escape(note)}</div></td></tr>'
            for note in self.notes
        )
        caption = f'<caption style="{_TITLE}">{escape(self.title)}</caption>' if self.title else ""
        return (
            f'<div style="overflow-x:auto"><table style="{_TABLE}">{caption}'
            f'<thead><tr style="{_ROW};{_LINE}">{head}</tr></thead><tbody style="{_LINE}">{rows}</tbody>'
            + (f"<tfoot>{foot}</tfoot>" if foot else "")
            + "</table></div>"
        )

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        r"""Return a LaTeX table environment for `booktabs`: centred, with caption, label and each note in small print.

        caption: the title where not given.  label: for \ref; made from the caption where not given ("tab:mean-of-age"),
        and none without a caption, as it is captions that LaTeX numbers.
        """
        words = self.title if caption is None else caption
        reference = label_of(words) if label is None else label
        headed = [rf"\caption{{{words.translate(LATEX)}}}"] if words else []
        headed += [rf"\label{{{reference}}}"] if words and reference else []
        spec = "".join("r" if side == "right" else "l" for side in self.sides)
        body = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in self.cells()]
        notes = [rf"\par{{\footnotesize\raggedright {note.translate(LATEX)}\par}}" for note in self.notes]
        lines = [
            r"\begin{table}[htbp]",
            r"\centering",
            *headed,
            rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule",
            " & ".join(column.translate(LATEX) for column in self.columns) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_csv(self) -> str:
        """Return the headings and rows as CSV, without the title and the notes."""
        import csv
        import io

        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([list(self.columns), *self.cells()])
        return out.getvalue()

    def to_json(self) -> str:
        """Return a JSON object with the keys title, columns, rows and notes."""
        words = {"title": self.title, "columns": self.columns, "rows": self.cells(), "notes": self.notes}
        return json.dumps(words, ensure_ascii=False, indent=1) + "\n"

    def save(self, path: str | Path, *, caption: str | None = None, label: str | None = None) -> None:
        """Write the table in the format of the suffix; .html is a page of its own.

        caption: in place of the title.  label: of LaTeX (`to_latex`); other formats have none.  Raises FileError F10
        for a suffix that is not in SUFFIXES, ReleaseError R07 where the file cannot be written.
        """
        table = self if caption is None else replace(self, title=caption)
        write_text(path, documents([table], suffix_of(path), labels=[label]))

    def __str__(self) -> str:
        return self.shortened().to_text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.shortened().to_html()


def suffix_of(path: str | Path) -> str:
    """Return the suffix of a file for tables, in lower case; FileError F10 unless it is one of SUFFIXES."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        message = f"{path} has suffix {suffix!r}; a table is saved as {', '.join(SUFFIXES)}."
        raise FileError(message, code="F10", hint="table.save('table1.tex')", state=None)
    return suffix


def documents(tables: Sequence[Table], suffix: str, *, labels: Sequence[str | None]) -> str:
    """Return tables one after another as the text of one file; for .csv, which holds one table, the first alone.

    labels: for LaTeX, one for each table, or None for `to_latex` to make it.
    """
    if suffix == ".json":
        return tables[0].to_json() if len(tables) == 1 else f"[{','.join(one.to_json() for one in tables)}]\n"
    if suffix == ".html":
        return _page(tables)
    if suffix == ".tex":
        return "\n".join(one.to_latex(label=label) for one, label in zip(tables, labels, strict=True))
    forms: dict[str, Callable[[Table], str]] = {
        ".txt": lambda one: one.to_text() + "\n",
        ".md": Table.to_markdown,
        ".csv": Table.to_csv,
    }
    return "\n".join(forms[suffix](one) for one in (tables[:1] if suffix == ".csv" else tables))


def _page(tables: Sequence[Table]) -> str:
    """Return an HTML page of tables; it names its encoding, which a browser would have to guess."""
    title = escape(tables[0].title)
    style = "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{style}</style></head><body>{''.join(one.to_html() for one in tables)}</body></html>\n"
    )


def label_of(caption: str) -> str:
    """Return a LaTeX label made of the letters of a caption, up to what follows a dot: "" where it has none.

    >>> label_of("Mean of age by sex · people-2024 · 10,000 rows")
    'tab:mean-of-age-by-sex'
    """
    words = "".join(one if one.isascii() and one.isalnum() else " " for one in caption.partition(" · ")[0].lower())
    return f"tab:{'-'.join(words.split())}" if words.strip() else ""


def with_numbers(frame: Any, table: Table) -> Any:
    """Return the frame of a table for a file: its index the first column ("term", unless it has a name).

    Where the table has a dash there is a reason instead of a number, and the cell is empty: a program that does not
    read reasons must not take what stands in its place.
    """
    named = frame.index.nlevels > 1 or frame.index.name is not None
    flat = frame.reset_index() if named else frame.reset_index(names="term")
    for heading, column in DASHED.items():
        if len(table.rows) == len(flat) and heading in table.columns and column in flat:
            at = table.columns.index(heading)
            flat[column] = flat[column].mask([str(row[at]) == "–" for row in table.rows])
    return flat


class Summarised(Protocol):
    """What has a summary."""

    def summary(self) -> Table:
        """The table that stands for it."""
        ...


S = TypeVar("S", bound=Summarised)
ASKED: Final = (
    "conf_int",
    "summary",
    "estimate",
    "to_frame",
    "ratio",
    "contrast",
    "test",
    "predict",
    "fit",
    "bootstrap",
)
"""Methods whose arguments other libraries call otherwise."""


def shown_by_summary(cls: type[S]) -> type[S]:
    """Class decorator: `str`, `repr` and notebooks show `summary()`; errors know the words of other libraries.

    It stands above `@dataclass`, whose `__repr__` it replaces.  A result with terms is iterated by them.  Arguments
    that a method of ASKED does not have are InferenceError I95.

    >>> @shown_by_summary
    ... class Ages:
    ...     def summary(self) -> Table:
    ...         return Table("Ages", ("sex", "mean"), (("f", "45.02"),))
    >>> Ages()
    Ages
    sex   mean
    f    45.02
    """

    def text(self: S) -> str:
        return str(self.summary())

    def html(self: S) -> str:
        return self.summary().shortened().to_html()

    def terms(self: Any) -> Any:  # Iterator[str]
        return iter(self.terms)

    for name, method in (("__str__", text), ("__repr__", text), ("_repr_html_", html)):
        setattr(cls, name, method)
    if "__getitem__" in cls.__dict__ and "__iter__" not in cls.__dict__:
        # results are asked by term: without this Python would ask for 0, 1, ...
        setattr(cls, "__iter__", terms)  # noqa: B010
    for name in ASKED:
        method = cls.__dict__.get(name)
        if isinstance(method, FunctionType):
            setattr(cls, name, named_arguments(InferenceError, "I95", name)(method))
    return knows_other_words(cls)


def _cut(text: str, most: int) -> str:
    """Return a text that takes at most so many columns, its end left out where it is longer."""
    if display_width(text) <= most:
        return text
    kept = text
    while display_width(kept) >= most:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


def display_width(text: str) -> int:
    """Return how many columns a text takes in a terminal: two for a wide character, none for a combining one.

    >>> display_width("Zürich"), display_width("東京")
    (6, 4)
    """
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    # W and F: wide and full width (Unicode, East Asian Width)
    return sum(0 if combining(mark) else 2 if east_asian_width(mark) in "WF" else 1 for mark in text)


def _padded(cell: str, width: int, side: Align) -> str:
    gap = " " * (width - display_width(cell))
    return gap + cell if side == "right" else cell + gap


def format_number(value: float, *, decimals: int) -> str:
    """Return a number with fixed decimals and separated thousands; a rounded zero has no sign.

    >>> format_number(12345.678, decimals=1), format_number(-0.001, decimals=2)
    ('12,345.7', '0.00')
    """
    text = f"{value:,.{decimals}f}"
    # nothing but signs, zeros and separators: the number was rounded to zero
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def format_interval(lower: float, upper: float, *, decimals: int) -> str:
    """Return an interval as text: 44.45 to 45.59."""
    return f"{format_number(lower, decimals=decimals)} to {format_number(upper, decimals=decimals)}"

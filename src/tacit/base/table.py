"""Table: a small value that is rendered as text, HTML, Markdown, LaTeX, CSV or JSON, the same on every run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from tacit.base.json_text import write_text
from tacit.errors import FileError

Align: TypeAlias = Literal["left", "right"]
SUFFIXES: Final = (".txt", ".html", ".md", ".tex", ".csv", ".json")
LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "ρ": r"$\rho$",
        "ε": r"$\varepsilon$",
        "δ": r"$\delta$",
        "σ": r"$\sigma$",
        "χ": r"$\chi$",
        "·": r"$\cdot$",
        "×": r"$\times$",
        "±": r"$\pm$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "−": "$-$",
        "²": r"$^2$",
        "³": r"$^3$",
        "…": r"\ldots{}",
        "–": "--",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # at the start of a row LaTeX would read it as the argument of the preceding \\
    }
)
MARKDOWN: Final = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|"})


@dataclass(frozen=True)
class Table:
    """Rows of cells under column headings, with a title and notes.

    Cells are displayed by `str`; `align` has one side for each column, and is empty for the default (`sides`).

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

    def to_text(self) -> str:
        """Return plain text with aligned columns, two spaces apart."""
        body = [list(self.columns), *self.cells()]
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
        """Return an HTML table element, with the title as its caption and the notes in its foot."""
        sides = [f' style="text-align:{side}"' for side in self.sides]
        head = "".join(f"<th{s}>{escape(c)}</th>" for c, s in zip(self.columns, sides, strict=True))
        rows = "".join(
            "<tr>" + "".join(f"<td{s}>{escape(c)}</td>" for c, s in zip(row, sides, strict=True)) + "</tr>"
            for row in self.cells()
        )
        span = len(self.columns)
        foot = "".join(f'<tr><td colspan="{span}"><small>{escape(note)}</small></td></tr>' for note in self.notes)
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return (
            f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
            + (f"<tfoot>{foot}</tfoot>" if foot else "")
            + "</table>"
        )

    def to_latex(self) -> str:
        """Return a LaTeX table environment for `booktabs`, with each note as a paragraph below the tabular."""
        spec = "".join("r" if side == "right" else "l" for side in self.sides)
        body = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in self.cells()]
        notes = [rf"\par{{\footnotesize {note.translate(LATEX)}\par}}" for note in self.notes]
        lines = [
            r"\begin{table}",
            *([rf"\caption{{{self.title.translate(LATEX)}}}"] if self.title else []),
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

    def save(self, path: str | Path) -> None:
        """Write the table in the format of the suffix.

        Raises FileError F10 for a suffix that is not in SUFFIXES, ReleaseError R07 where the file cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in SUFFIXES:
            message = f"{path} has suffix {suffix!r}; a table is saved as {', '.join(SUFFIXES)}."
            raise FileError(message, code="F10", hint="table.save('table1.tex')", state=None)
        forms = {
            ".txt": lambda: self.to_text() + "\n",
            ".html": lambda: self.to_html() + "\n",
            ".md": self.to_markdown,
            ".tex": self.to_latex,
            ".csv": self.to_csv,
            ".json": self.to_json,
        }
        write_text(path, forms[suffix]())

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


class Summarised(Protocol):
    """What has a summary."""

    def summary(self) -> Table:
        """The table that stands for it."""
        ...


S = TypeVar("S", bound=Summarised)


def shown_by_summary(cls: type[S]) -> type[S]:
    """Class decorator: `str`, `repr` and notebooks show `summary()`.

    It stands above `@dataclass`, whose `__repr__` it replaces.

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
        return self.summary().to_html()

    for name, method in (("__str__", text), ("__repr__", text), ("_repr_html_", html)):
        setattr(cls, name, method)
    return cls


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

"""The page of an explanation: what a board reads, in plain words, as HTML."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import InferenceError

if TYPE_CHECKING:
    from tacit.meaning.explanation import Explanation

STYLE: Final = (
    "body{font-family:sans-serif;max-width:46em;margin:2em auto;line-height:1.4}svg{max-width:100%;height:auto}"
)
WORDS: Final = (
    "Whatever is published, and whatever anybody concludes from it, would have been nearly as probable had one "
    "person's data been other than they are. The figures say how nearly. They hold against people who know everybody "
    "else's data and have all that was published, now or in thirty years.",
    "A suspicion is what somebody thinks of one person before anything is published: a probability. The table says "
    "what it can become. A test is a rule that raises an alarm; a false alarm is one about a person of whom it is not "
    "true.",
    "Nothing here says that nothing is learnt: if a table shows that smoking harms, a smoker is worse off for it, in "
    "the table or not. What is bounded is the difference that one person's data make.",
)


def to_html(explanation: Explanation) -> str:
    """Return the page as a document of its own."""
    parts = [f"<p>{escape(one)}</p>" for one in WORDS]
    table = explanation.summary().to_html()
    title = escape(explanation.title)
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return (
        f'<!doctype html><html lang="en"><head>{head}</head>'
        f"<body><h1>{title}</h1>{''.join(parts)}{table}{_picture(explanation)}</body></html>\n"
    )


def _picture(explanation: Explanation) -> str:
    """Return the picture as SVG within the page, or nothing without matplotlib."""
    try:
        drawn = explanation.plot()
    except InferenceError:
        return ""
    out = io.StringIO()
    import matplotlib

    library: Any = matplotlib
    # no date and fixed identifiers: the same page on every run
    with library.rc_context({"svg.hashsalt": "tacit"}):
        drawn.axes.figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue().partition("<svg")[2].join(("<svg", ""))

"""How the signs of a text are written in LaTeX."""

from __future__ import annotations

from typing import Final

_SMALL: Final = (
    "alpha beta gamma delta . zeta eta theta iota kappa lambda mu nu xi . pi rho . sigma tau . phi chi psi omega"
)
_LARGE: Final = "Gamma Delta . . . Theta . . Lambda . . Xi . Pi . . Sigma . . Phi . Psi Omega"
GREEK: Final = {
    chr(code): rf"$\{name}$"
    for first, names in ((ord("α"), _SMALL), (ord("Γ"), _LARGE))
    for code, name in enumerate(names.split(), first)
    if name != "."
}
"""Greek letters, which pdflatex does not know as they are: of prices, of parameters, of names such as γ-GT."""
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
        "`": r"\textasciigrave{}",
        **GREEK,
        "ε": r"$\varepsilon$",
        "∞": r"$\infty$",
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

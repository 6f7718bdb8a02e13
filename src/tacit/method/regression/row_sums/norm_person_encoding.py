"""Integer encodings of norm-clipped rows of persons, with the proofs of their sensitivities.

A person adds the mean of each integer over the person's complete rows, rounded, and products of two mean scores in
place of the rows' own psi**2 w w'.  A person without a complete row adds nothing, as an absent row.  Divided by the
largest psi and the norm C: v is a person's mean of psi w, Q of |psi| w w' (or of a weight's), p and q of |psi| and of
that weight, s of psi**2; u, P, and so on are those of another person.  Before rounding:

Means alone (column moments, products, psi w alone, Q): the difference of two persons is the mean, over pairs of a row
    of each, of the differences of these rows, and a norm of a mean is at most the mean of the norms: bounds hold as for
    rows.

Scores and products of mean scores in one part, of weights y (of v v'), w (of Q), t and sigma (of p or q, and s).
    Squared, the change is
        |v - u|**2 + y (|v|**4 + |u|**4 - 2 (v . u)**2) + w |Q - P|**2 + t (p - p')**2 + sigma (s - s')**2,
    the same of persons as of rows, since |v v' - u u'|**2 is |v|**4 + |u|**4 - 2 (v . u)**2.  It is convex in
    (v, Q, p, q, s): its second derivative in v is at least 2 - 4 y |u|**2 >= 0, as |u| <= 1 and y <= 1/2.  So, the
    other person given, it is largest at an end of the hull of what rows can be, which is a row, or absent; and likewise
    for the other.  Two rows: `norm_encoding` (y = 1/2, or 1/8 where rows are added or removed) and
    `norm_score_encoding`.

The matrices alone, at a pure price.  |v|**2 <= s, since |v| is at most the mean of |psi|, whose square is at most the
    mean of squares; and the inner product of v v' and u u' is (v . u)**2 >= 0.  So
        |v v' - u u'|**2 + f (s - s')**2 <= s**2 + s'**2 + f (s - s')**2,
    as for rows in `split_score_encoding`.  The norm of Q is at most q, and the inner product of two matrices without
    negative eigenvalues is not negative: the same of Q and q.

Rounding changes a mean by 1/2, computed in floats by 2**-28 more (`person_sums`), so two persons by 1.  Then
    v_j v_k changes by R and a little, R the largest entry of v, 2 R for two persons, divided by 2**SHIFT; rounding down
    is in the bounds of rows.  These changes times the weights are added to the norms, and 2 for the little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.method.regression.row_sums.norm_encoding import CLIP, MOST, SHIFT
from tacit.method.regression.row_sums.norm_encoding import FORMS as LINEAR
from tacit.method.regression.row_sums.norm_score_encoding import FORMS as SCORES
from tacit.method.regression.row_sums.person_encoding import root_above, rounding_norms
from tacit.method.regression.row_sums.split_score_encoding import MATRICES

PERSON: Final = "person-"
"""What the names of forms begin with that have products of mean scores."""
OF_SCORES: Final = (LINEAR[2], *SCORES, MATRICES)
"""Forms that have these of persons; of all others a person's integers are means of rows."""


def of_persons(form: ProductEncoding, products: int = 0) -> ProductEncoding:
    """Return the encoding of persons from that of rows; products: how many of the last integers are of mean scores."""
    weights = [row[0] for row in form.matrix]
    means = weights[: len(weights) - products]
    # 2 R / 2**SHIFT, rounded up
    apart = (2 * CLIP * MOST >> SHIFT) + 1
    l1, l2 = rounding_norms([*means, *(apart * weight for weight in weights[len(means) :])])
    name = f"{PERSON}{form.name}" if form.name in OF_SCORES else form.name
    return replace(form, name=name, l1=form.l1 + l1, l2_squared=(root_above(form.l2_squared) + l2) ** 2)


def of_rows(name: str) -> str:
    """Return the name of a form of rows for that of persons; one of rows as it is."""
    return name.removeprefix(PERSON)

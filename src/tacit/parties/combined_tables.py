"""Tables and notes of combined answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, format_interval, format_number
from tacit.errors import InferenceError
from tacit.estimates.display import decimals, facts, p_words, percent
from tacit.method.regression.estimate_coefficients.errors_of_far_rows import TAKEN
from tacit.parties.combined_cost import sum_of_costs
from tacit.parties.combined_estimate import Differing
from tacit.pooling.compatibility import REGRESSION

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.parties.combined import Combined
    from tacit.parties.combined_columns import Column
    from tacit.pooling.heterogeneity import PooledEffects

SAID: Final = 4
"""Heterogeneity is noted below an estimate for so many terms; `heterogeneity()` lists all."""
NAMED: Final = 5
"""Names listed in a note; the rest are counted."""


def listed(names: Sequence[str]) -> str:
    """Return the first few names in words, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def beside_the_cost(found: Combined) -> str:
    """Return the note beside the cost: whose cost it is."""
    if len(found.parties) == 1:
        return "of one population"
    if found.overlap:
        return f"for a person in all {len(found.parties):,} parties"
    words = "a person, where nobody is in two parties"
    total = sum_of_costs([one.cost for one in found.releases])
    return f"{words} (in all of them: {total})" if len(found.parties) > 1 else words


def estimand_of(found: Combined, words: str) -> str:
    """Return the estimand over all parties in words."""
    if found.is_total:
        return f"{words}, all parties together"
    if found.effects == "common":
        return f"{words}, one and the same in all parties"
    return f"{words}: the mean over parties like these, which differ"


def formula_of(found: Combined) -> str:
    """Return the regression in words: "linear regression y ~ x"."""
    query: Any = found.query
    return f"{query.model} regression {query.formula}"


def notes(found: Combined, made: Sequence[Column], target: str) -> tuple[str, ...]:
    """Return notes on an estimate: how it was combined, which releases were merged, who is left out, heterogeneity."""
    said: list[str] = []
    if found.is_total:
        said.append("numbers of the parties add up, and so do the variances of their noises")
    elif found.effects == "common":
        said.append("every row counts alike" if target == "table" else "weights are inverse to the variances")
    else:
        said.append(f"random effects: τ² by {found.method}, interval by Hartung and Knapp's t")
    if found.kind == REGRESSION and found.linear:
        said.append(TAKEN)
    same = [party for party, one in zip(found.parties, found.members, strict=True) if len(one) > 1]
    if same:
        said.append(f"the same people: {listed(same)}; their noise is averaged")
    said += _left_out(found, made)
    if (found.effects == "random" or found.kind == REGRESSION) and not found.is_total:
        said += _silent(found, made)
    if not found.is_total:
        said += [words for t, term in enumerate(found.terms[:SAID]) if (words := _differ(found, t, term))]
    return tuple(said)


def _left_out(found: Combined, made: Sequence[Column]) -> list[str]:
    """Return notes on parties whose own estimates of a parameter have a reason, and on tests of all parties."""
    said: list[str] = []
    for one in made:
        where = f"{one.label}: " if len(made) > 1 else ""
        reasons: dict[str, list[str]] = {}
        for party, why in one.out:
            reasons.setdefault(why, []).append(found.parties[party])
        said += [f"{where}left out: {listed(names)} ({why})" for why, names in reasons.items()]
        said += [f"{where}{note}" for note in one.notes]
    return said


def _silent(found: Combined, made: Sequence[Column]) -> list[str]:
    """Return notes for each term with parties whose noise is too large for an estimate of their own, or to use them."""
    said: list[str] = []
    terms, t = found.terms, 0
    for one in made:
        for i in range(len(one.value)):
            where = f"{terms[t]}: " if len(terms) > 1 else ""
            why = "noise leaves no coefficients" if found.kind == REGRESSION else "size not clearly above its noise"
            silent, counts = ~one.parts.usable[:, i], one.shares[:, i] > 0
            silent[[party for party, _ in one.out]] = False
            for some, what in ((silent & ~counts, "left out"), (silent & counts, "weighed, not shown alone")):
                names = [found.parties[j] for j in np.flatnonzero(some)]
                said += [f"{where}{why}, {what}: {listed(names)}"] if names else []
            t += 1
    return said


def _differ(found: Combined, t: int, term: str) -> str:
    """Return heterogeneity in words: I² = 35 %, τ = 0.4, Q = 3.1 on 2 df (p = 0.21); one more party: 3.1 to 5.2."""
    one = found.effects_of(t)
    if one is None:
        return ""
    # decimals go by the standard error; above 0, since a logarithm is taken of it
    digits = decimals(np.array([max(one.variance, 1e-300) ** 0.5]))
    words = f"I² = {100 * one.I2:.0f} %, τ = {one.tau2**0.5:.{digits}f}, {_q(one)}"
    ahead = found.prediction_of(t)
    if ahead is not None:
        words += f"; one more party: {format_interval(*ahead, decimals=digits)}"
    return f"{term}: {words}" if len(found.terms) > 1 else words


def spreads(found: Any, name: str) -> list[str]:
    """Return I² of each term of a combined question in words, "stay: A 35 %"; nothing of totals, which have none."""
    if not isinstance(found, Differing) or getattr(found, "is_total", False):
        return []
    made = cast("Combined", found)
    effects = [(term, made.effects_of(t)) for t, term in enumerate(made.terms)]
    several = len(made.terms) > 1
    return [
        f"{f'{name}: {term}' if several else name} {100 * one.I2:.0f} %" for term, one in effects if one is not None
    ]


def who_is_out(name: str, terms: Sequence[str], notes: Sequence[str]) -> list[str]:
    """Return the notes on parties that some terms of a question leave out, each once with all terms that it is of.

    >>> noisy = "noise leaves no coefficients, left out: north"
    >>> who_is_out("stay", ("a", "b", "c"), ("random effects", f"a: {noisy}", f"c: {noisy}"))
    ['stay, a, c: noise leaves no coefficients, left out: north']
    """
    found: dict[str, list[str]] = {}
    for note in notes:
        if "left out: " in note:
            term = next((one for one in terms if note.startswith(f"{one}: ")), None)
            found.setdefault(note if term is None else note.removeprefix(f"{term}: "), []).extend(
                [term] if term else []
            )
    return [
        f"{name}{f', {listed(tuple(of))}' if 0 < len(of) < len(terms) else ''}: {words}" for words, of in found.items()
    ]


def _q(one: PooledEffects) -> str:
    return f"Q = {one.Q:.1f} on {one.df} df (p {_p(one.p_value)})"


def _p(p: float) -> str:
    words = p_words(p)
    return words if words.startswith("<") else f"= {words}"


def heterogeneity(found: Combined, level: float) -> Table:
    """Return the table of heterogeneity, one row a term."""
    rows: list[tuple[object, ...]] = []
    for t, term in enumerate(found.terms):
        one = found.effects_of(t)
        if one is None:
            rows.append((term, *("–",) * 6))
            continue
        digits = decimals(np.array([max(one.variance, 1e-300) ** 0.5]))
        ahead = found.prediction_of(t, level)
        told = "–" if ahead is None else format_interval(*ahead, decimals=digits)
        rows.append(
            (term, f"{one.Q:.1f}", one.df, p_words(one.p_value), f"{100 * one.I2:.0f} %", f"{one.tau2:.3g}", told)
        )
    return Table(
        title=f"How far {found.table} differ",
        columns=("", "Q", "df", "p-value", "I²", "τ²", f"one more party, {percent(level)}"),
        rows=tuple(rows),
        notes=(facts(found),),
    )


def by_party(found: Combined, level: float) -> Table:
    """Return the table of parties' own estimates, one row a party and term."""
    rows: list[tuple[object, ...]] = []
    several = len(found.terms) > 1
    for t, term in enumerate(found.terms):
        value, error, limits = _own(found, t, level)
        digits = decimals(error[np.isfinite(error)])
        shares = found.shares_of(t)
        for i, party in enumerate(found.parties):
            name = f"{term}: {party}" if several else party
            weight = "1" if found.is_total else f"{100 * shares[i]:.1f} %"
            if not np.isfinite(value[i]):
                rows.append((name, "–", "–", "–", weight if shares[i] > 0 else "–", _cost(found, i)))
                continue
            numbers = (format_number(float(x), decimals=digits) for x in (value[i], error[i]))
            interval = format_interval(float(limits[0][i]), float(limits[1][i]), decimals=digits)
            rows.append((name, *numbers, interval, weight, _cost(found, i)))
    columns = ("", "estimate", "std. error", f"{percent(level)} interval", "weight", "cost")
    return Table("Parties", columns, tuple(rows), (f"estimates: {found.estimate().estimand}",))


def _cost(found: Combined, party: int) -> str:
    return str(sum_of_costs([one.cost for one, i in zip(found.releases, found.index, strict=True) if i == party]))


def _own(found: Combined, t: int, level: float) -> tuple[Array, Array, tuple[Array, Array]]:
    """Return value, standard error and interval ends of each party, shape (parties,)."""
    value, lower, upper, _ = found.rows_of(t, level)
    column, i = found.at(t)
    error = np.sqrt(column.parts.sampling[:, i] + column.parts.privacy[:, i])
    return value, np.where(np.isfinite(value), error, np.nan), (lower, upper)


def frame(found: Combined, level: float) -> pd.DataFrame:
    """Return parties' own estimates as a data frame, one row a party and term."""
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    made: list[dict[str, Any]] = []
    for t, term in enumerate(found.terms):
        value, error, (lower, upper) = _own(found, t, level)
        column, i = found.at(t)
        noise, shares = column.parts.privacy[:, i], found.shares_of(t)
        for j, party in enumerate(found.parties):
            row = {"party": party, "term": term, "estimate": value[j], "std_error": error[j]}
            row |= {"lower": lower[j], "upper": upper[j], "privacy_share": noise[j] / max(error[j] ** 2, 1e-300)}
            made.append({**row, "weight": shares[j]})
    return pd.DataFrame(made)


def leave_one_out(found: Combined, level: float) -> Table:
    """Return the table of estimates without each party, one row a party and term."""
    if len(found.parties) < 3:
        text = f"{found.table}: leaving one out takes three."
        raise InferenceError(text, code="C14", hint="by_party() has what each says", state=None)
    several = len(found.terms) > 1
    rows: list[tuple[object, ...]] = []
    whole = found.estimate()
    digits = [decimals(whole.std_errors[[t]]) for t in range(len(found.terms))]
    for party in ("", *found.parties):
        made = found.without(party) if party else found
        estimate = made.estimate()
        limits = estimate.intervals(level)
        for t, term in enumerate(found.terms):
            one = made.effects_of(t)
            name = f"without {party}" if party else "all parties"
            value = format_number(float(estimate.values[t]), decimals=digits[t])
            interval = format_interval(float(limits[t, 0]), float(limits[t, 1]), decimals=digits[t])
            spread = "–" if one is None else f"{100 * one.I2:.0f} %"
            rows.append((f"{term}: {name}" if several else name, value, interval, spread))
    columns = ("", "estimate", f"{percent(level)} interval", "I²")
    return Table("Leaving one party out", columns, tuple(rows), (f"estimates: {whole.estimand}",))

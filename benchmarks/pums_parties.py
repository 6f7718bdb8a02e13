"""A real run of a study: people of California split by county into parties that never share rows; writes its table.

    python benchmarks/pums_parties.py TABLE.parquet [--parties N] [--epsilon 4] [--page docs/reference/combining.md]

TABLE: the Census 2000 sample of California (columns puma, income, age, educ, sex, married); it stays where it is.
PUMAs whose codes begin alike (the first three digits: counties or groups of them) are one party, of 24 to 1,073 people.
Every party has a folder, a key and a ledger of its own, and answers in a process of its own; only files go between it
and the coordinator, who runs `tacit combine` as a process, too.  Beside it stands what all rows would give, without
privacy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pages import put

import tacit as tc
from tacit.pooling.heterogeneity import effects
from tacit.release.signing import new_key

STUDY = """
tacit = 1
title = "Income and marriage in California, Census 2000 sample"
[table]
name = "california-2000"
rows = 122
[budget]
epsilon = {epsilon}
neighbors = "add-remove"
[schema]
income = {{ type = "Real", lower = 0, upper = 300_000, units = "USD a year" }}
age = {{ type = "Real", lower = 18, upper = 94, units = "years" }}
educ = {{ type = "Integer", lower = 1, upper = 16 }}
sex = {{ type = "Category", levels = {{ 0 = "male", 1 = "female" }} }}
married = {{ type = "Boolean" }}
[spend]
epsilon = {epsilon}
[ask.income]
query = "Mean"
columns = "income"
[ask.incomes]
query = "Histogram"
columns = "income"
bins = {{ income = [0, 5_000, 10_000, 15_000, 20_000, 30_000, 40_000, 50_000, 75_000, 100_000, 150_000, 300_000] }}
[ask.cells]
query = "Histogram"
columns = ["age", "educ", "sex", "married"]
bins = {{ age = 8, educ = 4 }}
share = 2
[combine]
effects = "random"
"""
SITE = """
name = "{name}"
[data]
path = "people.parquet"
ledger = "{name}.ledger"
key = "{name}.private"
"""
MODEL = "married ~ age + educ + sex"
PROBS = (0.25, 0.5, 0.75)
COLUMNS = ["income", "age", "educ", "sex", "married"]


def prepared(people: pd.DataFrame, home: Path, epsilon: str, most: int | None) -> dict[str, pd.DataFrame]:
    """A folder, a table, a key and a page for each party, and the study that lists them."""
    split = {f"county-{code}": own for code, own in people.groupby(people["puma"] // 100)}
    split = dict(list(split.items())[:most])
    listed: list[str] = []
    for name, own in split.items():
        (home / name).mkdir()
        own[COLUMNS].to_parquet(home / name / "people.parquet")
        (home / name / f"{name}.toml").write_text(SITE.format(name=name), encoding="utf-8")
        listed.append(f'[parties.{name}]\nkey = "{new_key(home / name / f"{name}.private")}"')
    (home / "study.toml").write_text(STUDY.format(epsilon=epsilon) + "\n".join(listed) + "\n", encoding="utf-8")
    (home / "returned").mkdir()
    return split


def tacit(folder: Path, *words: str) -> dict[str, Any]:
    """A command as it is typed in a folder, in a process of its own."""
    found = subprocess.run(
        [sys.executable, "-m", "tacit", *words, "--json"], cwd=folder, capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise SystemExit(found.stdout + found.stderr)
    return json.loads(found.stdout)


def answered(home: Path, name: str) -> None:
    """Run one party; its answer is copied as if sent by e-mail."""
    made = tacit(home / name, "release", "../study.toml", "--site", f"{name}.toml")
    (home / name / made["saved"]).rename(home / "returned" / f"{name}.release.json")


def lines(result: Any, split: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, float, float, float, float]]:
    """Return, for each quantity: value and standard error from all rows without privacy, and as combined."""
    people = pd.concat(split.values())
    inside = [own["income"].clip(0, 300_000) for own in split.values()]
    sizes = np.array([len(one) for one in inside])
    # a row has one variance for all: incomes of poor counties vary less, so that their own would favour them
    row = sum(((one - one.mean()) ** 2).sum() for one in inside) / (sizes.sum() - len(sizes))
    plain = effects(np.array([one.mean() for one in inside]), row / sizes)
    mean = result["income"].estimate()
    yield "mean income of counties (random effects)", plain.mu, plain.variance**0.5, mean.value, mean.std_error
    yield "sd of county means τ", plain.tau2**0.5, float("nan"), float(mean.tau2) ** 0.5, float("nan")
    quantiles = result["incomes"].quantiles("income", list(PROBS))
    income = np.sort(people["income"].clip(0, 300_000).to_numpy())
    n = len(income)
    quarter = (quantiles.intervals()[:, 1] - quantiles.intervals()[:, 0]) / (2 * 1.959964)
    for p, value, error in zip(PROBS, quantiles.values, quarter, strict=True):
        half = 1.0 * (p * (1 - p) / n) ** 0.5  # one standard error of a rank, as a part of the rows
        spread = (np.quantile(income, min(p + half, 1)) - np.quantile(income, max(p - half, 0))) / 2
        yield (
            f"{100 * p:g} % quantile of income",
            float(np.quantile(income, p)),
            float(spread),
            float(value),
            float(error),
        )
    share = result["cells"].margin("married").estimate()
    married = people["married"].mean()
    total = share.values.sum()
    yield "rows", float(n), 0.0, float(total), float(np.sqrt(share.privacy_variances.sum()))
    wedded = result["cells"].moments("married")
    yield "share of married", float(married), float((married * (1 - married) / n) ** 0.5), *first(wedded)
    import statsmodels.formula.api as formulas

    fitted = formulas.logit("married ~ age + educ + C(sex)", people).fit(disp=0)
    own = result["cells"].fit(MODEL, model="logistic")
    names = {"Intercept": "Intercept", "age": "age", "educ": "educ", "sex[T.female]": "C(sex)[T.1]"}
    for ours, theirs in names.items():
        at = own.terms.index(ours)
        yield (
            f"log odds of marriage: {ours}",
            float(fitted.params[theirs]),
            float(fitted.bse[theirs]),
            float(own.values[at]),
            float(own.std_errors[at]),
        )


def first(found: Any) -> tuple[float, float]:
    """Value and standard error of the first term."""
    return float(found.values[0]), float(found.std_errors[0])


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("table")
    words.add_argument("--parties", type=int)
    words.add_argument("--epsilon", default="4")
    words.add_argument("--page")
    given = words.parse_args()
    people = pd.read_parquet(given.table)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        split = prepared(people, home, given.epsilon, given.parties)
        start = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: answered(home, name), split))
        took = time.perf_counter() - start
        said = tacit(home, "combine", "study.toml", "returned", "--save", "results")
        assert said["signed"] == said["parties"] == list(split), said["refused"]
        print(f"{len(split)} processes, {took:.0f} s; {len(said['signed'])} signed answers combined", file=sys.stderr)
        result = tc.Study.load(home / "study.toml").combine(home / "returned")
        text = page(result, split, given.epsilon)
    print(text)
    if given.page:
        put(Path(given.page), "pums_parties.py", text)


def page(result: Any, split: Mapping[str, pd.DataFrame], epsilon: str) -> str:
    """The section: what was done, and its table."""
    sizes = [len(one) for one in split.values()]
    rows = [
        f"| {name} | {' | '.join(map(number, (plain, error, value, own)))} | {ratio(value - plain, own)} |"
        for name, plain, error, value, own in lines(result, split)
    ]
    half = int(np.median(sizes))
    return "\n".join(
        [
            f"{len(split)} parties of {min(sizes):,} to {max(sizes):,} people, half of them of {half:,} or fewer,",
            f"{sum(sizes):,} in all; each has ε = {epsilon} for all questions, and its size is private. One run.",
            "The last column is the difference in standard errors of the combined (of a quantile: its interval's",
            "width over 3.92).",
            "",
            "| quantity | all rows, no privacy | SE | combined | SE | difference / SE |",
            "| :--- | ---: | ---: | ---: | ---: | ---: |",
            *rows,
        ]
    )


def number(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"


def ratio(difference: float, error: float) -> str:
    return "–" if not np.isfinite(error) or error == 0 else f"{difference / error:+.1f}"


if __name__ == "__main__":
    main()

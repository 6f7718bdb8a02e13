"""Questions, schemas, tables and prices drawn at random, of which `plan_promises.py` holds plans against releases.

A case is a set and a number, from which everything follows: of the drawn sets a table of `random_tables` (law, heaps,
missing cells, bounds, groups, persons, rows, price), of the real ones columns, bounds, rows and a price of two files.
Questions go round by the number, so that each kind has as many cases.  "trial" and "trial real" were drawn to develop
plans with, "judged" and "judged real" to judge them, once: all were committed before a case of them was simulated.
"fresh" and "fresh real" ask the kinds whose promises were kept least, regressions with and without weights, and a
histogram's density; of two more real tables, and with groups that are a column's own, cut in three, as well.
"later" and "later real" are of the same make, with joint series, polynomials and logistic regressions alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from random_tables import PRICES, Array, Design, Table

import tacit as tc

FILES: Final = Path(__file__).parents[2] / "shared" / "data"
SETS: Final = ("trial", "trial real", "judged", "judged real", "fresh", "fresh real", "later", "later real")
NUMBERS: Final = {
    "trial": 132,
    "trial real": 110,
    "judged": 176,
    "judged real": 154,
    "fresh": 132,
    "fresh real": 132,
    "later": 48,
    "later real": 48,
}
FIRST: Final = {"trial": 5_000, "judged": 6_000, "fresh": 9_000, "later": 14_000}
FOUR_FILES: Final = ("fresh real", "later real")
"""Sets of all four real tables."""
PROBS: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
SIZES: Final = {
    "pums": (1_000, 3_000, 10_000),
    "flights": (1_000, 5_000, 30_000),
    "rand": (1_000, 5_000, 20_000),
    "fair": (600, 2_000, 6_000),
}
BOUNDS: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    "age": ((0, 100), (18, 95), (0, 120)),
    "educ": ((1, 16), (0, 20)),
    "income": ((-10_000, 200_000), (0, 100_000), (-10_000, 800_000), (0, 300_000)),
    "delay": ((-60, 120), (-60, 300), (-100, 1_500)),
    "distance": ((0, 3_000), (0, 5_000)),
    "time": ((0, 24),),
}
FURTHER: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    **BOUNDS,
    "mdvis": ((0, 100), (0, 40)),
    "lpi": ((0, 8),),
    "disea": ((0, 60), (0, 100)),
    "fmde": ((0, 10),),
    "affairs": ((0, 60), (0, 20)),
    "years": ((0, 25), (0, 50)),
    "religious": ((1, 4), (0, 5)),
    "rating": ((1, 5),),
}
NUMBERS_OF: Final = {
    "pums": ("age", "educ", "income"),
    "flights": ("delay", "distance", "time"),
    "rand": ("mdvis", "lpi", "disea", "fmde"),
    "fair": ("affairs", "years", "religious", "rating", "age"),
}
YES: Final = {
    "pums": ("married", "latino", "asian", "female"),
    "flights": ("late", "far"),
    "rand": ("idp", "physlm", "good", "fair"),
    "fair": ("faithful", "graduate", "childless"),
}
COUNTS: Final = {"pums": "educ", "flights": "time", "rand": "mdvis", "fair": "years"}
ROLES: Final = {"pums": (("income", "age"), ("age", "educ"), ("educ", "age")), "flights": (("delay", "distance"),)}


@dataclass(frozen=True)
class Ask:
    """A kind of question: how it is asked of columns with a role, and how a release is read.

    read: "terms" of the estimate; "density" of a column, "binned density" of a histogram's, "joint density": the root
    mean square width of limits.
    """

    kind: str
    query: Callable[[str, str, str, tuple[float, float]], Any]
    read: str = "terms"
    groups: bool = False
    pair: bool = False


def _normal(ends: tuple[float, float]) -> Any:
    """Return the normal law in a box as wide as the bounds."""
    low, high = ends
    return tc.families.Normal(mean=(low, high), sd=((high - low) / 100, (high - low) / 2))


UNIT: Final = (0.0, 1.0)
ASKS: Final = (
    Ask("counts of groups", lambda x, z, h, ends: tc.Count(by="g"), groups=True),
    Ask("total", lambda x, z, h, ends: tc.Sum(x)),
    Ask("mean", lambda x, z, h, ends: tc.Mean(x)),
    Ask("means of groups", lambda x, z, h, ends: tc.Mean(x, by="g"), groups=True),
    Ask("shares of groups", lambda x, z, h, ends: tc.Mean(h, by="g"), groups=True),
    Ask("variance", lambda x, z, h, ends: tc.Variance(x)),
    Ask("quantiles", lambda x, z, h, ends: tc.Quantiles(x, [0.25, 0.5, 0.9])),
    Ask("medians of groups", lambda x, z, h, ends: tc.Quantiles(x, [0.5], by="g"), groups=True),
    Ask("histogram", lambda x, z, h, ends: tc.Histogram(x, bins=12)),
    Ask("kernel density", lambda x, z, h, ends: tc.KernelDensity(x), read="density"),
    Ask("series", lambda x, z, h, ends: tc.OrthogonalSeries(x), read="density"),
    Ask("Bernstein polynomial", lambda x, z, h, ends: tc.Bernstein(x), read="density"),
    Ask("joint kernel density", lambda x, z, h, ends: tc.KernelDensity([x, z]), read="joint density"),
    Ask("joint series", lambda x, z, h, ends: tc.OrthogonalSeries([x, z]), read="joint density"),
    Ask("linear regression", lambda x, z, h, ends: tc.Regression(f"y ~ {x} + {z}")),
    Ask("linear regression of a column", lambda x, z, h, ends: tc.Regression(f"{x} ~ {z} + {h}")),
    Ask("linear regression with groups", lambda x, z, h, ends: tc.Regression(f"y ~ {x} + g"), groups=True),
    Ask("logistic regression", lambda x, z, h, ends: tc.Regression(f"{h} ~ {x} + {z}", model="logistic")),
    Ask("Poisson regression", lambda x, z, h, ends: tc.Regression(f"c ~ {x} + {z}", model="poisson")),
    Ask("normal law, blocks", lambda x, z, h, ends: tc.SampleAndAggregate(x, _normal(ends))),
    Ask("normal law, sums", lambda x, z, h, ends: tc.SufficientStatistics(x, _normal(ends))),
    Ask("bootstrap of a mean", lambda x, z, h, ends: tc.Bootstrap(tc.Mean(x), replicates=30), pair=True),
)
BY_KIND: Final = {one.kind: one for one in ASKS}
FRESH: Final = (
    BY_KIND["shares of groups"],
    BY_KIND["Bernstein polynomial"],
    Ask("density of a histogram", lambda x, z, h, ends: tc.Histogram(x, bins=30), read="binned density"),
    BY_KIND["linear regression"],
    BY_KIND["linear regression with groups"],
    Ask("weighted regression", lambda x, z, h, ends: tc.Regression(f"y ~ {x} + {h}", weights="w")),
    BY_KIND["logistic regression"],
    BY_KIND["Poisson regression"],
    BY_KIND["normal law, blocks"],
    BY_KIND["normal law, sums"],
    BY_KIND["kernel density"],
)

LATER: Final = tuple(BY_KIND[kind] for kind in ("joint series", "Bernstein polynomial", "logistic regression"))


def two_digits(x: float) -> float:
    """Return a number to two significant digits.

    >>> two_digits(0.0347), two_digits(-127.0), two_digits(0.0)
    (0.035, -130.0, 0.0)
    """
    return 0.0 if x == 0 else round(x, 1 - math.floor(math.log10(abs(x))))


@dataclass(frozen=True)
class Case:
    """One case: its set and number."""

    set: str
    number: int

    @property
    def ask(self) -> Ask:
        """The kind of question."""
        asks = FRESH if self.set.startswith("fresh") else LATER if self.set.startswith("later") else ASKS
        return asks[self.number % len(asks)]

    @property
    def drawn(self) -> bool:
        return self.set in FIRST

    @cached_property
    def design(self) -> Design:
        """The table of a drawn case: another one for each case."""
        return Design(FIRST[self.set] + self.number)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is drawn of a case of real columns, in the order of the seed."""
        rng = np.random.default_rng([2026, 11, 27, 20, SETS.index(self.set), self.number])
        ask = self.ask
        if self.set in FOUR_FILES:
            return self._fresh(rng)
        # of flights there are numbers alone
        simple = not ask.groups and not isinstance(ask.query("x", "z", "h", UNIT), tc.Regression)
        file = "flights" if rng.random() < 0.5 and simple else "pums"
        pairs = ROLES[file] if file == "pums" else (("delay", "distance"), ("distance", "time"), ("time", "delay"))
        x, z = pairs[int(rng.integers(len(pairs)))]
        bounds = {name: each[int(rng.integers(len(each)))] for name, each in BOUNDS.items()}
        return {
            "file": file,
            "x": x,
            "z": z,
            "h": str(rng.choice(["married", "latino", "asian", "female"])),
            "bounds": bounds,
            "rows": int(rng.choice(SIZES[file])),
            "price": PRICES[int(rng.integers(len(PRICES)))],
            "relation": str(rng.choice(["replace-one", "add-remove"])),
        }

    def _fresh(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return what is drawn of a fresh case: two different numbers, a Boolean, and groups of another column."""
        file = str(rng.choice(list(NUMBERS_OF)))
        x, z, other, *_ = map(str, rng.permutation(NUMBERS_OF[file]))
        h, g = map(str, rng.permutation(YES[file])[:2])
        bounds = {name: FURTHER[name][int(rng.integers(len(FURTHER[name])))] for name in NUMBERS_OF[file]}
        return {
            "file": file,
            "x": x,
            "z": z,
            "y": other,
            "h": h,
            # groups are thirds of a number, or another Boolean
            "groups": str(rng.choice([other, g])),
            "bounds": bounds,
            "rows": int(rng.choice(SIZES[file])),
            "price": PRICES[int(rng.integers(len(PRICES)))],
            "relation": str(rng.choice(["replace-one", "add-remove"])),
        }

    @property
    def price(self) -> dict[str, float]:
        """The price; a pair where nothing else buys the question."""
        price = self.design.price if self.drawn else self.facts["price"]
        return {"epsilon": 1, "delta": 1e-6} if self.ask.pair and "delta" not in price else price

    @property
    def rows(self) -> int:
        return self.design.rows if self.drawn else self.facts["rows"]

    @property
    def relation(self) -> str:
        return self.design.relation if self.drawn else self.facts["relation"]

    @property
    def schema(self) -> tc.Schema:
        """What is declared."""
        if self.drawn:
            return self.design.schema()
        if self.set in FOUR_FILES:
            file = self.facts["file"]
            numbers = {name: _number(file, name)(*ends) for name, ends in self.facts["bounds"].items()}
            counted = numbers | {name: tc.Boolean() for name in YES[file]}
            return tc.Schema(counted | {"g": tc.Category(list(THIRDS)), "w": tc.Real(0, 4)})
        columns: dict[str, Any] = {
            name: tc.Integer(*ends) if name in ("age", "educ", "income", "delay", "distance") else tc.Real(*ends)
            for name, ends in self.facts["bounds"].items()
            if name in frame(self.facts["file"])
        }
        if self.facts["file"] == "pums":
            columns |= {"female": tc.Boolean(), "married": tc.Boolean(), "latino": tc.Boolean(), "asian": tc.Boolean()}
            columns |= {"g": tc.Category(["alone", "asian", "black", "latino", "other"])}
        return tc.Schema(columns)

    @property
    def query(self) -> Any:
        """What is asked; y and c of a real table are other columns of it."""
        if self.drawn:
            return self.ask.query("x", "z", "h", (self.design.lower, self.design.upper))
        ends = self.facts["bounds"][self.facts["x"]]
        asked = self.ask.query(self.facts["x"], self.facts["z"], self.facts["h"], ends)
        if not isinstance(asked, tc.Regression):
            return asked
        if self.set in FOUR_FILES:
            response, _, terms = asked.formula.partition(" ~ ")
            count = COUNTS[self.facts["file"]]
            others = [name for name in NUMBERS_OF[self.facts["file"]] if name not in terms.split(" + ")]
            if response == "c":
                response, terms = (
                    count,
                    " + ".join(self.facts["h"] if one == count else one for one in terms.split(" + ")),
                )
            response = others[0] if response == "y" else response
            return tc.Regression(f"{response} ~ {terms}", model=asked.model, weights=asked.weights)
        response, _, terms = asked.formula.partition(" ~ ")
        others = [name for name in ("income", "educ", "age") if name not in terms]
        if response == "c":  # years of education are the only count
            response, terms = "educ", terms.replace("educ", self.facts["h"])
        response = others[0] if response == "y" else response
        return tc.Regression(f"{response} ~ {terms}", model=asked.model)

    def draw_table(self, rng: np.random.Generator) -> Table:
        """Return a table of the case."""
        if self.drawn:
            return self.design.draw_table(rng)
        whole = self._whole()
        size = len(next(iter(whole.values())))
        rows = rng.integers(0, size, self.facts["rows"])
        return {name: whole[name][rows] for name, _ in self.schema.items()}

    def _whole(self) -> Table:
        """Return the file's rows; of a fresh case with its groups, and weights that go with the first number."""
        whole = frame(self.facts["file"])
        if self.set not in FOUR_FILES:
            return whole
        by = np.asarray(whole[self.facts["groups"]], dtype=float)
        cuts = [0.5] if set(np.unique(by)) <= {0.0, 1.0} else np.quantile(by[~np.isnan(by)], [1 / 3, 2 / 3])
        x = np.asarray(whole[self.facts["x"]], dtype=float)
        low, high = self.facts["bounds"][self.facts["x"]]
        u = (np.clip(np.nan_to_num(x, nan=low), low, high) - low) / (high - low)
        noise = np.random.default_rng([7, self.number]).uniform(0.5, 1.5, len(x))
        return {**whole, "g": np.array(THIRDS)[np.digitize(by, cuts)], "w": (0.5 + u) * noise}

    @cached_property
    def large(self) -> Table:
        """A very large table, or the whole file: what somebody may know is known of it."""
        return (
            self.design.draw_table(np.random.default_rng([9, self.number]), 60_000)
            if self.drawn
            else {name: self._whole()[name] for name, _ in self.schema.items()}
        )

    def told(self) -> dict[str, Any]:
        """Return means, deviations and missing shares of numbers, and shares of levels, to two digits, of the columns
        that the question reads."""
        found: dict[str, Any] = {}
        text = repr(self.query)
        for name, column in self.schema.items():
            if name not in self.large or (f"'{name}'" not in text and not _in_formula(name, self.query)):
                continue
            values = self.large[name]
            if isinstance(column, tc.Boolean | tc.Category):
                levels = ("true", "false") if isinstance(column, tc.Boolean) else tuple(map(str, column.labels))
                labels = np.char.lower(values.astype(str)) if isinstance(column, tc.Boolean) else values.astype(str)
                shares = {level: two_digits(float((labels == level).mean())) for level in levels[:-1]}
                found[name] = shares if sum(shares.values()) <= 1 else {}
            elif isinstance(column, tc.Real | tc.Integer):
                x = np.asarray(values, dtype=float)
                held = np.clip(x[~np.isnan(x)], column.lower, column.upper)
                missing = two_digits(float(np.isnan(x).mean()))
                found[name] = {"mean": two_digits(float(held.mean())), "sd": two_digits(float(held.std()))}
                found[name] |= {"missing": missing} if missing else {}
        return {name: one for name, one in found.items() if one}

    @property
    def words(self) -> str:
        """The case in a line."""
        price = ", ".join(f"{key} {value:g}" for key, value in self.price.items())
        if self.drawn:
            return f"{self.design.words}; {self.relation}"
        low, high = self.facts["bounds"][self.facts["x"]]
        at = f"{self.facts['file']}: {self.facts['x']} in {low:,g} to {high:,g}"
        return f"{at}; {self.rows:,} rows; {price}; {self.relation}"


THIRDS: Final = ("low", "middle", "high")


def _number(file: str, name: str) -> Any:
    """Return the type of a column of a fresh case: whole numbers are declared as such."""
    values = np.asarray(frame(file)[name], dtype=float)
    return (
        tc.Integer
        if np.array_equal(values[~np.isnan(values)] % 1, np.zeros_like(values[~np.isnan(values)]))
        else tc.Real
    )


def _in_formula(name: str, query: Any) -> bool:
    formula = getattr(query, "formula", "").replace("~", " ").replace("+", " ")
    return name in formula.split()


@lru_cache(maxsize=4)
def frame(file: str) -> dict[str, Array]:
    """Return the columns of a file; of people some Booleans, and a group."""
    import pandas as pd

    if file in ("rand", "fair"):
        return _of_statsmodels(file)
    place = FILES / {"pums": "pums_california_10000.parquet", "flights": "flights_200000.parquet"}[file]
    table: Any = pd.read_parquet(place)
    made = {name: table[name].to_numpy() for name in BOUNDS if name in table}
    if file == "pums":
        made |= {name: table[name].to_numpy().astype(bool) for name in ("married", "latino", "asian")}
        made["female"] = table["sex"].to_numpy().astype(bool)
        kinds = [table[name].to_numpy() == 1 for name in ("black", "latino", "asian")]
        made["g"] = np.select(kinds, ["black", "latino", "asian"], np.where(table["married"] == 1, "other", "alone"))
    if file == "flights":
        made |= {"late": made["delay"] > 15, "far": made["distance"] > 1_000}
    return made


def _of_statsmodels(file: str) -> dict[str, Array]:
    """Return columns of RAND's health insurance experiment, or of Fair's answers on affairs."""
    import statsmodels.api as sm

    if file == "rand":
        table: Any = sm.datasets.randhie.load_pandas().data
        made = {name: table[name].to_numpy(float) for name in ("mdvis", "lpi", "disea", "fmde")}
        yes = {"idp": "idp", "physlm": "physlm", "good": "hlthg", "fair": "hlthf"}
        return made | {name: table[own].to_numpy() > 0.5 for name, own in yes.items()}
    table = sm.datasets.fair.load_pandas().data
    own = {
        "affairs": "affairs",
        "years": "yrs_married",
        "religious": "religious",
        "rating": "rate_marriage",
        "age": "age",
    }
    made = {name: table[one].to_numpy(float) for name, one in own.items()}
    # rounded up, so that years are whole numbers
    made["years"] = np.ceil(made["years"])
    return made | {
        "faithful": table["affairs"].to_numpy() == 0,
        "graduate": table["educ"].to_numpy() >= 16,
        "childless": table["children"].to_numpy() == 0,
    }

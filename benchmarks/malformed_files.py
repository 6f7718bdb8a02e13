"""Malformed TOML files: seeded mutations of curator's files, studies and site files, as the commands read them.

    python benchmarks/malformed_files.py                  # 10,000 mutations, some minutes on one core
    python benchmarks/malformed_files.py --quick          # 200

Each mutation is one file in a folder with a small table.  It is checked (`tacit check`) and planned (`tacit plan`), a
site file with its study; some are released, too (`tacit release`).  Every command has a limit of seconds.  Counted:
exits 70, raw errors, runs past the limit, and words on any stream that are a traceback or a warning.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import warnings
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Final

from fuzzing import counted, written_table
from malformed_releases import Found, command, tried

JOB: Final = """tacit = 1
title = "Made-up people"
contact = "data@example.org"
[table]
name = "people-2024"
rows = 60
[data]
path = "people.csv"
ledger = "people.ledger"
analyst = "alice"
[budget]
rho = 5
neighbors = "replace-one"
[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
visits = { type = "Integer", lower = 0, upper = 9, missing = 0 }
sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }
region = { type = "Category", levels = ["north", "south"], missing = "unknown" }
born = { type = "Date", lower = 1950-01-01, upper = 2006-12-31 }
married = { type = "Boolean" }
old = { type = "Boolean", computed = "age >= 65" }
[spend]
rho = 0.2
[ask.mean-age]
query = "Mean"
columns = "age"
by = "sex"
where = "age > 20 and region == 'north'"
share = 3
[ask.cells]
query = "Histogram"
columns = ["age", "sex"]
bins = { age = [18, 30, 65, 93] }
[ask.median]
query = "Quantiles"
column = "age"
probs = [0.25, 0.5]
level = 0.9
[ask.line]
query = "Regression"
formula = "age ~ visits + sex"
[ask.quality]
query = "DataQuality"
"""
MODELS: Final = """[ask.blocks]
query = "SampleAndAggregate"
what = "age"
model = { family = "Normal", mean = [0, 100], sd = [1, 50] }
blocks = 4
[ask.law]
query = "SufficientStatistics"
what = "visits"
family = { family = "Poisson", mean = [0.1, 9] }
"""
"""Questions whose models take seconds to compile: in a few of the files."""
STUDY: Final = """tacit = 1
title = "Hips"
closes = 2999-12-31
[table]
name = "hips"
rows = 60
[budget]
epsilon = 4
neighbors = "add-remove"
[schema]
age = { type = "Integer", lower = 18, upper = 93, units = "years" }
visits = { type = "Integer", lower = 0, upper = 9, missing = 0 }
sex = { type = "Category", levels = ["male", "female"] }
born = { type = "Date", lower = 1950-01-01, upper = 2006-12-31 }
married = { type = "Boolean" }
[spend]
epsilon = 2
[ask.age]
query = "Mean"
columns = ["age", "visits"]
by = "sex"
[ask.married]
query = "Mean"
columns = "married"
[ask.spread]
query = "Variance"
columns = "age"
[combine]
effects = "random"
minimum = 2
level = 0.9
overlap = false
parties = 3
[parties.st-mary]
contact = "mary@example.org"
rows = 60
[parties.st-luke]
key = "ed25519:MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
optional = true
[parties.st-john]
"""
SITE: Final = """name = "st-mary"
[data]
path = "people.csv"
ledger = "site.ledger"
[data.columns]
visits = { column = "visits", recode = { none = 0 } }
sex = { column = "sex", recode = { 0 = "male", 1 = "female" } }
born = { column = "born", format = "%Y-%m-%d" }
age = { column = "age", multiply = 1.0 }
married = { column = "married", recode = { J = true, N = false } }
"""
ODD: Final = [
    "0", "-1", "1", "2", "1.5", "1e308", "-1e308", "1e-308", "nan", "inf", "-inf", "9223372036854775807",
    "1" + "0" * 40, "1" + "0" * 4000, "9" * 5000, "true", "false", '""', '" "', '"a"', '"age"', '"sex"', '"1/3"',
    '"1e999999999"', '"1/0"', '"0x10"', '"nan"', "[]", "[1]", "[1, 2]", "[[1]]", '["age", "age"]', '["age"]', "{}",
    "{ a = 1 }", "{ age = 3 }", "{ age = 1000000000 }", "{ age = [] }", '{ age = "auto" }', "1979-05-27",
    "1979-05-27T07:32:00Z", "07:32:00", "0001-01-01", "9999-12-31", '"' + "x" * 300 + '"', '"' + "x" * 100_000 + '"',
    '"é\\u202e\\u0000"', '"\\uFFFF"', '"a\\nb"', '"' + "../" * 2000 + 'x"', "'" + "a" * 255 + ".csv'", "'/dev/null'",
    "'/dev/zero'", "'.'", "'..'", "'/'", "'~'", "'people.ledger'", "'postgresql://'", "'[a'", "'*'", "'**'",
    "'people.toml'", "'Mean'", "'Histogram'", "'Regression'", "'Range'", "'Variance'", "'Sum'", "'Count'",
    "'SampleAndAggregate'", "'Real'", "'PrivacyUnit'", "'add-remove'", "'replace-one'", "'auto'", "'1is 2'",
    "'age > 1is 2'", "'age == \"\\d\"'", "'not ' * 9", "'age ** 99999999 > 1'",
    "'" + "(" * 90 + "age > 1" + ")" * 90 + "'", "'" + "not " * 300 + "married'",
    "'age > 1" + " or age > 1" * 150 + "'", "'age ~ sex'",
    "'age ~ " + " * ".join(["sex", "visits", "married", "born"] * 4) + "'", "'age ~ (visits + sex)**4'",
    "'age ~ I(visits ** 99)'", "'~'", "'age ~ age'", "'born ~ sex'", '{ family = "Normal" }', '{ family = "Gamma" }',
    '{ family = "LinearRegression", regressors = 1000000000 }', '{ family = "Categorical", levels = 100000000 }',
    '{ family = "Model", name = "x" }', '{ family = "Statistic", name = "median", parameters = { median = [0, 9] } }',
    '{ family = "NormalMixture", components = 100000 }', '{ family = "Poisson", rate = [5, 1] }',
    '{ family = "Binomial", trials = 1000000000000, probability = [0.1, 0.9] }', "{ type = 'Real' }",
    "{ type = 'Category', levels = [] }", "{ type = 'Integer', lower = 0, upper = 1000000000000 }",
    "{ type = 'Category', levels = ['a', 'a'] }", "{ type = 'Real', lower = 1, upper = 0 }", "{ type = 'Nothing' }",
    "{ type = 'Real', lower = 0, upper = 1, computed = 'log(age' }", "{ type = 'PrivacyUnit', max_rows = 3 }",
]  # fmt: skip
LINES: Final = [
    "more = 1", "[more]", "[[ask]]", "[ask]", "[ask.'']", "[ask.\"a b\"]", "[data]", "[parties]", "[combine]", "x.y = 1",  # noqa: E501
    "[schema.age]", "tacit = 2", "epsilon = 1", "delta = 1e-6", "rho = 1", "= 1", "[", "]", "'", '"""', "a = ", "\ufeff",  # noqa: E501
    "accounting = 'basic'", "by = 'region'", "weights = 'visits'", "per = 'row'", "bins = 'auto'", "sparse = true",
    "threshold = 5", "one_step = true", "winsorize = true", "method = 'chen-sung'", "model = 'logistic'", "parties = 5",
    "missing = true", "outside = true", "bias = 'jackknife'", "parameters = 'mean'", "where = 'married'", "level = 0.5",
]  # fmt: skip
VALUE: Final = re.compile(r"(?<== )(\"[^\"]*\"|'[^']*'|\[[^\[\]]*\]|[^\s,{}\[\]]+)")


def mutated(rng: random.Random, text: str) -> str:
    """Return the text with one or two changes."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = rng.choice(CHANGES)(rng, text)
    return text


def _value(rng: random.Random, text: str) -> str:
    found = list(VALUE.finditer(text))
    if not found:
        return text
    one = rng.choice(found)
    return text[: one.start()] + rng.choice(ODD) + text[one.end() :]


def _key(rng: random.Random, text: str) -> str:
    found = list(re.finditer(r"(?<![\w-])[\w-]+(?= = )", text))
    if not found:
        return text
    one = rng.choice(found)
    new = rng.choice([one[0] + "x", one[0].upper(), "more", '""', '"a b"', one[0][:-1] or "x", '"\\u202e"'])
    return text[: one.start()] + new + text[one.end() :]


def _lines(rng: random.Random, text: str) -> str:
    """Remove, repeat, move or insert a line."""
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[place]
    elif how == 1:
        lines.insert(place, lines[place])
    elif how == 2:
        lines.insert(rng.randrange(len(lines)), lines.pop(place))
    else:
        lines.insert(place, rng.choice(LINES))
    return "\n".join(lines)


def _letters(rng: random.Random, text: str) -> str:
    """Remove, replace or insert a letter, or cut the text off."""
    if not text:
        return text
    place = rng.randrange(len(text))
    how = rng.randrange(4)
    if how == 0:
        return text[:place]
    letter = rng.choice("\x00\x1b\\\"'=[]{}.,#\n0ä\u202e\ud800")
    return text[:place] + (letter if how < 3 else "") + text[place + (how > 1) :]


def _moved(rng: random.Random, text: str) -> str:
    """Put one value in the place of another."""
    found = list(VALUE.finditer(text))
    if len(found) < 2:
        return text
    one, other = rng.choice(found), rng.choice(found)
    return text[: one.start()] + other[0] + text[one.end() :]


CHANGES: Final[list[Callable[[random.Random, str], str]]] = [_value, _value, _value, _key, _lines, _letters, _moved]


def table(folder: Path) -> None:
    """Sixty rows, made up by rule."""
    rows = [f"{18 + i % 70},{i % 10},{i % 2},{'north' if i % 3 else 'south'},{1950 + i % 56}-05-1{i % 9},"
            f"{'true' if i % 4 else 'false'}" for i in range(60)]  # fmt: skip
    written_table(folder / "people.csv", "age,visits,sex,region,born,married", rows)


def written(path: Path, text: str) -> None:
    """Write a file, with bytes that are not UTF-8 where the text says so."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def ran(found: Found, case: str, *words: str) -> None:
    """Run one command; count undeclared exit codes and forbidden output."""
    what = " ".join(one for one in words[:1] if not one.endswith(".toml")) + (" --site" if "--site" in words else "")
    answer = tried(found, what, case, lambda: command(*words))
    if answer is None:
        return
    code, text = answer
    found.counts[f"{what}: exit {code}"] += 1
    if code not in (0, 2, 3):
        found.add(f"{what}: EXIT {code}", f"{case}: {text[-160:]!r}")
    if "Traceback" in text or "Warning" in text:
        found.add(f"{what}: TRACE", f"{case}: {text[-200:]!r}")


def one(found: Found, seed: int, number: int, folder: Path, release: int) -> None:
    """Try one mutation of one of the three files; every `release`-th is released."""
    rng = random.Random(f"{seed}/{number}")
    which = rng.choice(["job", "job", "study", "site"])
    job = JOB.partition("[ask.line]")[0] + MODELS if rng.random() < 0.02 else JOB
    for old in folder.glob("*.ledger*"):
        old.unlink(missing_ok=True)
    text = mutated(rng, {"job": job, "study": STUDY, "site": SITE}[which])
    written(folder / f"{which}.toml", text)
    case = f"{number} {which}"
    if which == "site":
        written(folder / "study.toml", STUDY)
        ran(found, case, "check", "study.toml", "--site", "site.toml")
        if number % release == 0:
            ran(found, case, "release", "study.toml", "--site", "site.toml", "--save", "out.json")
        return
    ran(found, case, "check", f"{which}.toml")
    ran(found, case, "plan", f"{which}.toml")
    if number % release == 0:
        if which == "study":
            written(folder / "site.toml", SITE)
        more = ("--site", "site.toml") if which == "study" else ()
        ran(found, case, "release", f"{which}.toml", *more, "--save", "out.json")


def swept(count: int, seed: int, release: int = 20, progress: bool = False) -> Found:
    """Try all mutations, in a temporary folder."""
    found = Found()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("error")
        folder = Path(name)
        table(folder)
        with chdir(folder):
            for number in range(count):
                one(found, seed, number, folder, release)
                if progress and number % 500 == 499:
                    print(f"… {number + 1:,}: {found.bad()}", flush=True)
    return found


def main() -> None:
    """The command."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    words.add_argument("--count", type=int, default=10_000)
    words.add_argument("--seed", type=int, default=13)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--cases", type=int, default=3, help="how many cases of each to print")
    given = words.parse_args()
    made = swept(200, given.seed) if given.quick else swept(given.count, given.seed, progress=True)
    counted(made.counts, made.cases, given.cases, made.bad())


if __name__ == "__main__":
    main()

"""The text of the API page: the script that people type (to job c2, d1 and d2), and the three files beside it.

Copied as it stands there, so that a line that no longer runs is a change of the API, made on purpose or not at all.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Final

SCRIPT: Final = """
import jax.numpy as jnp
import tacit as tc

schema = tc.Schema({                                  # a dict: any column name will do
    "age": tc.Real(18, 93, units="years"),
    "income": tc.Real(0, 300_000, units="USD"),       # missing="exclude" is the default, as in pandas
    "educ": tc.Integer(1, 16),
    "sex": tc.Category({0: "male", 1: "female"}),     # code: label
    "region": tc.Category(["north", "south"]),
    "married": tc.Boolean(),
    "predicted": tc.Boolean(),
    "weight": tc.Real(0, 50),
})
people = tc.examples.people()                         # or a path, or any frame
curator = tc.Curator(people, schema, name="people-2024", budget=tc.Budget(rho=1), ledger="people.ledger")

# everybody: ask, release, infer
release = curator.release(tc.Mean("age"), rho=0.01, name="age")
low, high = release.estimate().conf_int(0.95)

# a1 survey: weighted domain means, a difference, a standardised rate
income = curator.release(tc.Mean("income", by=["region", "sex"], where="age < 65", weights="weight"), rho=0.05).estimate()
income.contrast("`north:female` - `north:male`")      # one joint release: the covariance is known
income.standardize({"north:female": 0.3, "north:male": 0.3, "south:female": 0.2, "south:male": 0.2})
income.to_frame().to_csv("income.csv")                # pandas

# a2 register: the table is the population, only privacy is uncertain
cells = curator.release(tc.Histogram(["age", "income", "sex", "married"], bins={"age": 10, "income": 10}), rho=0.2)
cells.margin(["sex", "married"]).estimate(target="table").summary()

# b1 regression tables
ols = cells.fit("income ~ age + sex")
logit = cells.fit("married ~ age * sex", model="logistic")
logit.test("age = 0, `sex[T.female]` = 0").p_value
wide = curator.release(tc.Regression("income ~ age + educ + sex + region + married"), rho=0.1).estimate()
tc.table(ols, wide, logit).save("table1.tex")

# b2 what would it cost? no data needed; then every pair of groups
tc.plan(tc.Mean("income", by="region"), schema, rows=10_000, width=2_000).cost
curator.release(tc.Mean("income", by="region"), rho=0.05).estimate().pairwise(adjust="holm").summary()

# c1 steward:  $ tacit check ask.toml;  tacit plan ask.toml;  tacit release ask.toml --note "board 17"
# c2 audit:    $ tacit budget people.ledger
answers = curator.release({"mean": tc.Mean("age"), "quartiles": tc.Quantiles("income", [0.25, 0.5, 0.75])},
                          rho=0.06, shares={"quartiles": 2}, note="board 17")      # all of it or nothing
answers.save("answers.json")
curator.releases["age"].estimate()                    # found by name, next year too

# e2 a reusable hold-out; synthetic rows
training = cells.sample(10_000, rng=0)
"""

HOSPITAL: Final = """
import tacit as tc

# d1 forty hospitals:  $ tacit release study.toml --site st-mary.toml
study = tc.Study.load("study.toml")
study.plan().summary()
hospital = tc.Curator("records.csv", study, name="st-mary", ledger="st-mary.ledger")
hospital.release(study).save("returned/st-mary.json")
"""

RETURNED: Final = """
# d2 what came back:   $ tacit combine study.toml returned/*.json
result = study.combine("returned/*.json", effects="random")
result.refused                                        # {"st-luke": "'stay' is 0 to 60 there, 0 to 365 in the study"}
result["stay"].estimate().plot()                      # forest plot, I², prediction interval
"""

ASK: Final = """
tacit = 1
table = { name = "people-2024", rows = 10_000 }
data = { path = "people.parquet", ledger = "people.ledger" }
spend = { rho = 0.1 }
[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
married = { type = "Boolean" }
[ask.age-by-married]
query = "Mean"
columns = "age"
by = "married"
"""
"""The page does not spell out what job c1 asks: the same people, under the ledger of the script."""

PUMS: Final = """
# A curator's file: what is public, what may be spent, what is asked, and where the rows are.
# Everything but [data] is public and may be shown to anybody; the words are those of Python.
tacit = 1                                        # version of this format
title = "California adults, Census 2000 sample"

[table]
name = "pums-california-2000"                    # which people, which edition: questions are remembered under this name
rows = 10_000                                    # public under replace-one; lets `tacit plan` work without the data

[data]                                           # stays at home; no part of the digest
path = "pums_california_10000.parquet"
ledger = "pums.ledger"                           # or "postgresql://server/ledger"

[budget]                                         # the promise, for good: written into the ledger at its creation
rho = 0.5
neighbors = "replace-one"                        # or "add-remove": then not even the number of people is public

[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
income = { type = "Real", lower = 0, upper = 300_000, units = "USD a year", missing = "exclude" }
educ = { type = "Integer", lower = 1, upper = 16, units = "level" }
sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }
married = { type = "Boolean" }
"Latino or Hispanic" = { type = "Boolean", column = "latino" }   # any name; `column` says what it is called in the file

[spend]                                          # this file's share of the budget, split by `share` (1 where not given)
rho = 0.2

[ask.quality]                                    # how many rows are missing, out of bounds or unlisted, with noise
query = "DataQuality"
share = 0.2

[ask.mean-age]
query = "Mean"
columns = "age"

[ask.income-by-sex]
query = "Mean"
columns = "income"
by = ["sex", "Latino or Hispanic"]
where = "age >= 25 and age < 65"

[ask.income-quartiles]
query = "Quantiles"
column = "income"
probs = [0.25, 0.5, 0.75]

[ask.cells]                                      # regressions, quantiles, pictures, synthetic rows come from this one
query = "Histogram"
columns = ["age", "income", "sex", "married"]
bins = { age = 15, income = [0, 10_000, 20_000, 30_000, 50_000, 75_000, 100_000, 150_000, 300_000] }
share = 4

# $ tacit check pums.toml       columns and types agree with the file; no row is read
# $ tacit plan pums.toml        one page for whoever must approve; spends nothing
# $ tacit release pums.toml     all five or none; writes pums.release.json; again is free
# $ tacit show pums.release.json
# $ tacit fit pums.release.json cells "married ~ age + sex" --model logistic --save table1.tex
# $ tacit budget pums.ledger
"""

STUDY: Final = """
# A coordinator's file: a curator's file without [data], and with parties. E-mail it; its digest binds every answer.
tacit = 1
title = "Stay and readmission after hip fracture, 40 hospitals"
contact = "coordination@hip-study.example"
closes = 2025-03-31                              # later answers are left out, by name

[table]
name = "hip-fracture-2024"
rows = 1_500                                     # typical hospital; for planning only

[budget]                                         # what each hospital sets aside for this study
epsilon = 1.0
neighbors = "add-remove"                         # a hospital's number of patients stays private

[schema]
patient = { type = "PrivacyUnit", max_rows = 2 }     # a neighbour is a patient with all admissions; at most 2 count
stay = { type = "Integer", lower = 0, upper = 365, units = "days" }
wait = { type = "Real", lower = 0, upper = 240, units = "hours", missing = "exclude" }
admitted = { type = "Date", lower = 2024-01-01, upper = 2024-12-31 }
age = { type = "Integer", lower = 50, upper = 110, units = "years" }
sex = { type = "Category", levels = ["female", "male"], missing = "unknown" }
readmitted = { type = "Boolean", missing = "exclude" }

[spend]                                          # a hospital may spend less (--epsilon 0.5), never more
epsilon = 1.0

[ask.quality]                                    # a hospital whose codes or units are wrong shows up here, before it spoils a pooled table
query = "DataQuality"
share = 0.5

[ask.stay]
query = "Mean"
columns = ["stay", "wait"]
by = "sex"

[ask.readmission]
query = "Mean"
columns = "readmitted"
where = "age >= 65"
share = 2

[ask.wait-law]
query = "SampleAndAggregate"
what = "wait"
model = { family = "Gamma", shape = [0.5, 5], rate = [0.01, 1] }
share = 2

[combine]
effects = "random"                               # "common" where the hospitals estimate one and the same quantity
minimum = 25                                     # fewer answers than this: no pooled result
level = 0.95

[parties.st-mary]
contact = "data@st-mary.example"
key = "ed25519:MCowBQYDK2VwAyEA0000000000000000000000000000000000000000000="

[parties.st-luke]
contact = "data@st-luke.example"
rows = 6_200                                     # where it differs from [table].rows and may be known
# … 38 more

# $ tacit plan study.toml                                     precision from rows and cost; how many hospitals would do
# $ tacit release study.toml --site st-mary.toml              at each hospital; writes st-mary.release.json
# $ tacit combine study.toml returned/*.json --save results/  refused ones by name and reason; the rest is combined
"""

SITE: Final = """
# A hospital's own page: where its rows are and how its words map to the study's. Never leaves the hospital.
name = "st-mary"

[data]
path = "exports/hip_2024.csv"
ledger = "st-mary.ledger"
key = "st-mary.private"                          # signs the answer; optional

[data.columns]                                   # row by row, declared, the same for every row: no effect on privacy
patient = { column = "PATIENT_NO" }
stay = { column = "LOS" }
wait = { column = "WAIT_MIN", multiply = 0.016666666666666666 }        # minutes to hours
admitted = { column = "ADM_DT", format = "%d/%m/%Y" }
sex = { column = "GENDER", recode = { F = "female", W = "female", M = "male" } }
readmitted = { column = "READM30", recode = { J = true, N = false } }
"""

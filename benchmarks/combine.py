"""How long it takes to combine many parties' files; prints one table.

    python benchmarks/combine.py [--files 10000]

The files are answers to one study (a mean by sex, a share, a histogram), each with a ledger and noise of its own.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import tacit as tc
from tacit.release.document import Releases

STUDY = """
tacit = 1
title = "Many parties"
[table]
name = "many"
rows = 300
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
stay = { type = "Integer", lower = 0, upper = 60, units = "days" }
sex = { type = "Category", levels = ["female", "male"] }
readmitted = { type = "Boolean" }
[spend]
epsilon = 1
[ask.stay]
query = "Mean"
columns = "stay"
by = "sex"
[ask.readmitted]
query = "Mean"
columns = "readmitted"
[ask.cells]
query = "Histogram"
columns = ["stay", "sex"]
bins = { stay = 10 }
"""


def files(study: tc.Study, folder: Path, count: int) -> None:
    """Write one real answer, and copies of it with other names, ledgers and noise."""
    rng = np.random.default_rng(0)
    table = {"stay": rng.poisson(9, 300), "sex": ["female", "male"] * 150, "readmitted": rng.random(300) < 0.2}
    answers = tc.Curator(table, study, name="one").release(study)
    for i in range(count):
        made = []
        for name, one in answers.items():
            parts = tuple(
                replace(
                    part,
                    integers=tuple(
                        tuple(k + int(z) for k, z in zip(cell, part.law.sample(len(cell), rng), strict=True))
                        for cell in part.integers
                    ),
                )
                for part in one.parts
            )
            made.append((name, replace(one, parts=parts, table=f"party-{i:05}", ledger=f"{i:064x}", recorded=True)))
        Releases(tuple(made)).save(folder / f"party-{i:05}.release.json")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--files", type=int, default=10_000)
    count = words.parse_args().files
    study = tc.Study.from_toml(STUDY)
    with tempfile.TemporaryDirectory() as home:
        files(study, Path(home), count)
        size = sum(one.stat().st_size for one in Path(home).iterdir()) / 1e6
        start, busy = time.perf_counter(), time.process_time()
        found = study.combine(f"{home}/*.json", effects="random")
        read = time.perf_counter() - start
        for name in found:
            found[name].estimate()
        done, used = time.perf_counter() - start, time.process_time() - busy
        shown = str(found.summary())
        whole = time.perf_counter() - start
    assert len(found.parties) == count, found.refused
    print(shown)
    print(json.dumps({"files": count, "MB": round(size, 1), "read and check, s": round(read, 2)}))
    print(
        json.dumps(
            {"with estimates, s": round(done, 2), "of the processor": round(used, 2), "with table": round(whole, 2)}
        )
    )


if __name__ == "__main__":
    main()

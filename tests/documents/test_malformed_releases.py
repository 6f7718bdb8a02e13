"""Changed, forged and malformed releases: refused with a code, or read as what they are.

The figures are those of `benchmarks/malformed_releases.py`, thinned.  The stored documents were written before digests.
"""

from __future__ import annotations

import copy
import json
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from json_schema import fits

import tacit as tc
from tacit.base.json_text import canonical
from tacit.errors import CODES, ReleaseError, TacitError
from tacit.method.quality import encoding as quality_encoding
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import rank_utilities
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.noise.laws import NoiseError
from tacit.noise.stored_laws import law_from_dict
from tacit.privacy import Cost
from tacit.release.digests import digest_of, sealed
from tacit.release.document import Release, Releases, release_from_dict, releases_from_dict
from tacit.release.field_rules import Long, TextField
from tacit.release.noise_checks import selected
from tacit.release.packing import write_int
from tacit.release.sensitivity_checks import EncodingFacts, implied_constants

HERE = Path(__file__).parent
SCHEMA = tc.release_schema()


@cache
def stored() -> tuple[dict[str, Any], ...]:
    lines = (HERE / "releases_0.1.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(one) for one in lines)


@cache
def written() -> tuple[dict[str, Any], ...]:
    """Releases of this version, of encodings that earlier ones did not have."""
    curator = tc.Curator({"age": [30, 40, 50] * 4}, tc.Schema({"age": tc.Real(18, 100)}), budget=tc.Budget(rho=1))
    blocks = tc.SampleAndAggregate("age", tc.Statistic("median", median=(18, 100)), blocks=3)
    median = tc.Quantiles("age", [0.5])
    asked = (tc.Mean("age"), tc.Sum("age"), blocks, median, replace(median, interval=False))
    made = [curator.release(query, rho=0.1) for query in asked]
    # so small a price that three steps are each selected for itself
    return tuple(one.to_dict() for one in (*made, curator.release(median, rho="0.0001")))


def by_form(form: str) -> dict[str, Any]:
    every = (*stored(), *written())
    return next(copy.deepcopy(one) for one in every if any(part["form"] == form for part in one["parts"]))


def a_release() -> Release:
    curator = tc.Curator({"age": [30, 40, 50]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    return curator.release(tc.Mean("age"), rho=0.1, name="age")


# Digests ------------------------------------------------------------------------------------------------------------


def test_a_text_ends_where_it_ends() -> None:
    """Python's "$" also matches before a last line break: a digest or an integer would then have two spellings."""
    assert TextField("^[0-9a-f]{64}$").wrong("a" * 64) is None
    assert TextField("^[0-9a-f]{64}$").wrong("a" * 64 + "\n") is not None
    assert Long("").wrong("12345678901234567") is None
    assert Long("").wrong("12345678901234567\n") is not None


def test_releases_of_the_version_before_digests_are_read_as_they_were() -> None:
    for words in stored():
        assert release_from_dict(words).to_dict() == words
        assert fits(words, SCHEMA, SCHEMA)


@pytest.mark.parametrize("several", [False, True])
def test_what_is_saved_carries_a_digest_that_is_checked(tmp_path: Path, several: bool) -> None:
    one = a_release()
    made: Any = Releases((("age", one),)) if several else one
    place, load = tmp_path / "age.json", Releases.load if several else Release.load
    made.save(place)
    words = json.loads(place.read_text(encoding="utf-8"))
    assert words["digest"] == digest_of(made.to_dict())
    assert canonical(words) == made.to_json()
    assert load(place) == made
    assert fits(words, SCHEMA, SCHEMA)
    inner = words["releases"][0][1] if several else words
    inner["parts"][0]["integers"][0][0] += 1
    place.write_text(json.dumps(words), encoding="utf-8")
    with pytest.raises(ReleaseError, match="changed after it was saved") as found:
        load(place)
    assert (found.value.code, str(place) in found.value.message) == ("R05", True)


def test_a_file_of_several_without_its_digest_lost_it(tmp_path: Path) -> None:
    made = Releases((("age", a_release()),))
    place = tmp_path / "several.json"
    place.write_text(json.dumps(made.to_dict()), encoding="utf-8")
    with pytest.raises(ReleaseError, match="lost its digest"):
        Releases.load(place)
    assert Releases.stored(place) == made  # for whoever has the ledger's own answers
    assert releases_from_dict(made.to_dict()) == made  # words in memory carry none


# Fields and laws ----------------------------------------------------------------------------------------------------

FORGED: list[tuple[str, tuple[Any, ...], Any]] = [
    ("exclusion-2", ("parts", 0, "parameters", "G"), 2**20 + 2),
    ("exclusion-2", ("parts", 0, "parameters", "presence"), 1),
    ("exclusion-2", ("parts", 0, "sensitivity", "l1"), 7),
    ("total", ("parts", 0, "parameters", "offset"), 1),
    ("total", ("parts", 0, "parameters", "divisor"), 9),
    ("total", ("parts", 0, "sensitivity", "l1"), 7),
    ("group", ("parts", 0, "sensitivity", "l2_squared"), "99999999999999999999"),
    ("plain", ("parts", 0, "grid", "G"), 1024),
    ("plain", ("parts", 0, "grid", "upper"), -5.0),
    ("plain", ("parts", 0, "integers"), [[1, 2], [3, 4]]),
    ("plain", ("parts", 0, "integers"), [[1, 2, 3]]),
    ("plain", ("parts", 0, "noise", "scale"), "1/1000"),
    ("plain", ("rows",), None),
    ("count", ("neighbors",), "replace one"),
    ("count", ("levels",), [[f"c{i}", ["a", "b"]] for i in range(40)]),
    ("weighted", ("parts", 0, "parameters", "first"), 2**40),
    ("weighted", ("parts", 0, "weight", "G"), 1024),
    ("bernstein", ("parts", 0, "parameters", "mass"), 1),
    ("classes", ("parts", 0, "parameters", "classes"), 10**6),
    ("ranks", ("parts", 0, "integers", 0, 0), -3),
    ("ranks", ("parts", 0, "noise", "scale"), "1/2"),
    ("ranks", ("parts", 0, "parameters", "numerator"), 0),
    ("ranks-2", ("parts", 0, "integers", 0), [1, 2]),
    ("ranks-2", ("query", "interval"), False),
    ("joint-4", ("parts", 0, "integers", 0), [1, 2]),
    ("joint-4", ("parts", 0, "parameters", "between"), 0),
    ("joint-4", ("parts", 0, "noise", "law"), "permute-and-flip"),
    ("joint-4", ("parts", 0, "noise", "scale"), "1/2"),
    ("point", ("parts", 0, "integers", 0), [1, 2, 3]),
    ("point", ("parts", 0, "noise", "scale"), "1/2"),
    ("point", ("query",), {"query": "Quantiles", "column": "age", "probs": ["1/2"]}),
    ("range", ("parts", 0, "parameters", "bins"), 10**9),
    ("range", ("parts", 0, "integers", 0, 0), 116),
    ("histogram", ("axes", 0, "edges", 0), 1e9),
    ("histogram", ("axes", 0, "edges"), [0.0, 1.0]),
    ("histogram", ("levels", 0, 1), ["only"]),
    ("sparse-histogram", ("parts", 0, "parameters", "threshold"), 0),
    ("sparse-histogram", ("parts", 0, "integers"), [[10**15, 10**9]]),
    ("blocks", ("parts", 0, "parameters", "blocks"), 0),
    ("blocks", ("parts", 0, "label"), "other"),
    ("blocks-2", ("parts", 0, "parameters", "blocks"), 0),
    ("blocks-2", ("parts", 0, "parameters", "presence"), 1),
    ("blocks-2", ("parts", 0, "sensitivity", "l1"), 7),
    ("products", ("variables", 0, "half"), -1),
    ("products", ("variables", 0, "half"), 10**9),
    ("products", ("variables", 0, "upper"), -1e9),
    ("products", ("parts", 0, "integers"), [[1, 2, 3]]),
    ("scores", ("parts", 1, "parameters", "off"), 0),
    ("scored", ("parts", 0, "parameters", "squares"), 7),
    ("weighed", ("parts", 1, "parameters", "reach"), "9" * 50),
]


@pytest.mark.parametrize(
    ("form", "path", "value"), FORGED, ids=[f"{i}-{f}-{p[-1]}" for i, (f, p, _) in enumerate(FORGED)]
)
def test_what_no_mechanism_writes_is_refused(form: str, path: tuple[Any, ...], value: Any) -> None:
    """Also where the digest is made anew: each form's own laws are checked."""
    words = by_form(form)
    place = words
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(TacitError) as found:
        release_from_dict(sealed(words))
    assert found.value.code in CODES


def test_changed_prices_are_refused() -> None:
    for words in stored():
        for kind, value in words["cost"].items():
            if kind != "delta" and "delta" not in words["cost"]:
                with pytest.raises(ReleaseError):
                    release_from_dict({**words, "cost": {kind: str(Fraction(value) / 2)}})


@pytest.mark.parametrize("scale", ["1e999999999", "9" * 5_000, "1/0", "0x10", "-1", "", None, 3])
@pytest.mark.parametrize("law", ["discrete Laplace", "exponential mechanism"])
def test_a_scale_is_a_fraction_of_a_length(law: str, scale: Any) -> None:
    with pytest.raises(NoiseError) as found:
        law_from_dict({"law": law, "scale": scale})
    assert found.value.code == "N01"


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_sensitivities_are_those_of_the_mechanisms(noise: Any, neighbors: Any) -> None:
    one = neighbors == "replace-one"
    for G in (2**10, 4_096, 1_048_576, 1_244_736):
        made = [
            *((moment_forms.plain(G, noise), moment_forms.exclusion(G, noise)) if one else ()),
            moment_forms.group(G, noise, neighbors),
            *(moment_forms.total(G, offset, noise, cells=2, neighbors=neighbors) for offset in (0, 77, -9 * G)),
            moment_forms.bernstein(4_096, neighbors),
            *((moment_forms.deviations(2**16, 5_000),) if one else ()),
            *((moment_forms.binary_plain(), moment_forms.binary_exclusion(noise)) if one else ()),
            moment_forms.binary_group(neighbors),
            *(
                weighted_forms.weighted(g, 2**15, noise, neighbors, several=several)
                for g in (1, G)
                for several in (0, 1)
            ),
            quality_encoding.classes(3, neighbors),
            quality_encoding.classes(4, neighbors),
        ]
        for form in made:
            for share in (None, 1024):
                held = form if share is None else weighted_forms.shared(form, share)
                found = implied_constants(form.name, held.parameters, EncodingFacts(noise == "laplace", one, True))
                assert found is not None, form.name
                assert (found.l1, found.l2_squared) == (held.l1, held.l2_squared), form
                assert all(held.parameters[name] == value for name, value in found.constants.items())
    for cells in (1, 2):
        for several in (False, True)[:cells]:
            form = weighted_forms.counted(2**20, noise, neighbors, cells=cells, several=several)
            found = implied_constants("counted", form.parameters, EncodingFacts(noise == "laplace", one, cells > 1))
            assert found is not None
            assert (found.l1, found.l2_squared) == (form.l1, form.l2_squared)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("grouped", [False, True])
def test_selections_are_those_of_the_mechanisms(neighbors: Any, grouped: bool) -> None:
    for price in (Cost.of(epsilon=1), Cost.of(rho="1/10"), Cost.of(rho="1/7")):
        facts = EncodingFacts(price.noise == "laplace", neighbors == "replace-one", grouped)
        for p in (Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)):
            parameters = {"G": 4096, "numerator": p.numerator, "denominator": p.denominator}
            for form, many in (("ranks", 3), ("ranks-2", 3), ("point", 1), ("joint-4", 1)):
                found = implied_constants(form, parameters, facts)
                assert found is not None
                assert (found.l1, found.l2_squared) == rank_utilities.reached(p, neighbors, grouped=grouped)
                law = rank_utilities.law_for(price.share(Fraction(1, many)), p, neighbors, grouped=grouped)
                for factor in (Fraction(3, 4), Fraction(1), Fraction(4, 3)):  # wider, as bought, and nearer
                    drawn: Any = type(law)(law.rate * factor)
                    assert selected(form, drawn, parameters, price, facts) == (factor == 1)


# JSON ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace('"rows":3', '"rows":3,"rows":4'), "the key 'rows' occurs twice"),
        (lambda text: text.replace('"rows":3', '"rows":NaN'), "NaN is not valid JSON"),
        (lambda text: text.replace('"rows":3', '"rows":1e999'), "too large for a float"),
        (lambda text: text.replace('"name":"age"', '"name":"\\ud800"'), "lone surrogate"),
        (lambda text: "\ufeff" + text, "is not JSON"),
        (lambda text: "[" * 100_000, "is not JSON"),
        (lambda text: text.replace('"rows":3', '"rows":' + "9" * 5_000), "is not JSON"),
    ],
    ids=["twice", "nan", "infinite", "surrogate", "bom", "deep", "digits"],
)
def test_json_is_read_strictly(tmp_path: Path, change: Any, reason: str) -> None:
    place = tmp_path / "age.json"
    place.write_text(change(a_release().to_json()), encoding="utf-8")
    with pytest.raises(ReleaseError, match=reason) as found:
        Release.load(place)
    assert found.value.code == "R01"


@pytest.mark.parametrize("path", ["a" * 5_000 + ".json", "a\0.json"])
def test_a_path_that_no_file_can_have(path: str) -> None:
    with pytest.raises(ReleaseError) as found:
        Release.load(path)
    assert found.value.code == "R03"


# All of it, thinned -------------------------------------------------------------------------------------------------


def test_mutations_end_in_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 of the mutations of `benchmarks/malformed_releases.py`, loaded: refused with a code, or what they were."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import malformed_releases as script

    given, place, refused = script.documents(script.singles()), tmp_path / "one.json", 0
    for number in range(500):
        one = script.mutation(14, number, given)
        place.write_bytes(one.raw)
        try:
            made: Any = (Releases if "releases" in one.original else Release).load(place)
        except TacitError:
            refused += 1
            continue
        if one.kept:
            assert canonical(made.to_dict()) == canonical({k: v for k, v in one.original.items() if k != "digest"})
    assert refused > 250
    sys.modules.pop("malformed_releases", None)


# Prices, orders, lengths --------------------------------------------------------------------------------------------


def test_prices_that_parts_do_not_add_up_to_are_refused() -> None:
    """A price that was raised by hand: it says of a release that it protects less than it does."""
    told = 0
    for words in stored():
        for kind in words["cost"].keys() & {"epsilon", "rho"}:
            if "delta" not in words["cost"]:
                dearer = {kind: str(Fraction(words["cost"][kind]) * 2)}
                with pytest.raises(ReleaseError, match="do not cost"):
                    release_from_dict({**words, "cost": dearer})
                told += 1
    assert told > 10


def test_noise_that_is_wider_than_its_price_buys_is_refused() -> None:
    """Twice as wide; but where a question asks for wider noise, which then is as it was printed."""
    told = 0
    for words in map(copy.deepcopy, stored()):
        if words["query"].get("method") == "chen-sung":
            continue
        noise = words["parts"][0]["noise"]
        noise["scale"] = str(Fraction(noise["scale"]) * 2)
        with pytest.raises(ReleaseError):
            release_from_dict(words)
        told += 1
    assert told > 10


def test_cells_of_a_sparse_histogram_are_in_order() -> None:
    """Each once, in order, none below the threshold."""
    words = by_form("sparse-histogram")
    (part,) = words["parts"]
    least = int(part["parameters"]["threshold"])
    for cells, good in (
        ([[0, least], [1, least + 3]], True),
        ([[1, least], [0, least]], False),
        ([[1, least], [1, least]], False),
        ([[0, least - 1], [1, least]], False),
        ([[-1, least]], False),
    ):
        part["integers"] = cells
        if good:
            assert release_from_dict(words).to_dict() == words
        else:
            with pytest.raises(ReleaseError):
                release_from_dict(words)


@pytest.mark.parametrize("query", [tc.Count(by=["grade", "ok"]), tc.Histogram(["grade", "ok"])], ids=["count", "cells"])
def test_what_comes_back_from_a_file_is_what_was_released(query: tc.Query[Any], tmp_path: Path) -> None:
    """Every field: the order of levels, the ledger, that nothing was recorded."""
    schema = tc.Schema({"grade": tc.Category(["low", "high"], ordered=True), "ok": tc.Boolean()})
    rows = {"grade": ["low", "high", "low"], "ok": [True, False, None]}
    release = tc.Curator(rows, schema, budget=tc.Budget(rho=1)).release(query, rho=0.1)
    release.save(tmp_path / "release.json")
    again = Release.load(tmp_path / "release.json")
    assert again == release
    assert again.ordered == (("grade", ("low", "high")), ("ok", ("false", "true")))
    assert (again.recorded, again.ledger) == (False, release.ledger)


def test_a_private_number_of_rows_is_in_no_document() -> None:
    """Under add-remove nobody knows it; under replace-one everybody does."""
    relations = {words["neighbors"] for words in stored()}
    assert relations == {"replace-one", "add-remove"}
    for words in stored():
        other = None if words["neighbors"] == "replace-one" else 50
        with pytest.raises(ReleaseError):
            release_from_dict({**words, "rows": other})


@pytest.mark.parametrize("value", ["9007199254740992", "1000000000000000", 2**53 + 1, "007", "1e3", "-0", True, 1.0])
def test_an_integer_has_one_spelling(value: Any) -> None:
    """A number up to 2**53, digits beyond: no other text, and no number that readers of JSON would round."""
    assert [write_int(k) for k in (2**53, 2**53 + 1, -(2**53) - 1)] == [2**53, "9007199254740993", "-9007199254740993"]
    words = by_form("count")
    cells = words["parts"][0]["integers"]
    cells[0] = ["9007199254740993"]
    assert release_from_dict(words).to_dict() == words
    cells[0] = [value]
    with pytest.raises(ReleaseError):
        release_from_dict(words)

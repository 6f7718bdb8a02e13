"""Estimates from randomised answers: exact intervals, both errors, groups, weights, regression, files, the page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import TacitError
from tacit.local.binomial_limits import limits, mid_p_value

COIN = tc.local.Warner(epsilon=1)
BITS = tc.local.UnaryEncoding(["a", "b", "c", "d"], epsilon=2)
SURVEY = tc.local.SubsetSelection(["a", "b", "c", "d"], epsilon=1)


def sent(design, shares, n, rng):
    """How many of n answers support each level, in one draw of people and answers."""
    truth = rng.multinomial(n, shares)
    p, q = float(design.channel.own), float(design.channel.wrong)
    own = rng.binomial(truth, p)
    return own + np.array([rng.binomial(n - t, q) for t in truth])


def test_limits_are_those_of_clopper_and_pearson():
    counts, sizes = np.array([0.0, 3.0, 10.0, 40.0]), np.array([10.0, 10.0, 10.0, 1000.0])
    found = limits(counts, sizes, 0.95, 1.0)
    for (low, high), x, n in zip(found, counts, sizes, strict=True):
        exact = stats.binomtest(int(x), int(n)).proportion_ci(0.95, "exact")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    half = limits(counts, sizes, 0.95, 0.5)
    assert (half[:, 0] >= found[:, 0] - 1e-12).all()
    assert (half[:, 1] <= found[:, 1] + 1e-12).all()


@pytest.mark.parametrize(("n", "probability"), [(10, 0.02), (50, 0.3), pytest.param(200, 0.5, marks=pytest.mark.long)])
def test_coverage_by_enumeration_of_all_counts(n, probability):
    x = np.arange(n + 1.0)
    chance = stats.binom(n, probability).pmf(x)
    sizes = np.full(n + 1, float(n))

    def covered(part):
        found = limits(x, sizes, 0.95, part)
        return ((found[:, 0] <= probability) & (probability <= found[:, 1])) @ chance

    assert covered(1.0) >= 0.95
    assert covered(0.5) >= 0.9
    # with one more random number the level is exact: 400 equally spaced values of it stand for all, to 1/400 an end
    parts = (np.arange(400) + 0.5) / 400
    assert np.mean([covered(np.full(n + 1, u)) for u in parts]) == pytest.approx(0.95, abs=0.006)


def test_mid_p_values_are_those_of_the_definition():
    for x, n, p in ((3, 10, 0.4), (0, 5, 0.1), (5, 5, 0.9)):
        law = stats.binom(n, p)
        above = law.sf(x) + law.pmf(x) / 2
        assert mid_p_value(x, n, p) == pytest.approx(min(1, 2 * min(above, 1 - above)))
    assert (mid_p_value(3, 3, 1.0), mid_p_value(2, 3, 1.0)) == (1.0, 0.0)


@pytest.mark.sample(3)
@pytest.mark.parametrize("design", [COIN, SURVEY, BITS], ids=lambda one: one.name)
def test_variances_and_coverage_of_shares(design):
    rng = np.random.default_rng(5)
    shares = np.array([0.2, 0.8]) if design.binary else np.array([0.55, 0.3, 0.1, 0.05])
    n, repeats = 2_000, 4_000
    p, q = float(design.channel.own), float(design.channel.wrong)
    counts = np.array([sent(design, shares, n, rng) for _ in range(repeats)], dtype=float)
    found = (counts / n - q) / (p - q)
    theory = np.diag(design.channel.support_covariance(shares)) / n / (p - q) ** 2
    # a variance from 4,000 draws has sd √(2/4000) = 2.2% of itself: 5.5 of them for a false alarm of 4e-8 each
    assert found.var(axis=0) == pytest.approx(theory, rel=5.5 * np.sqrt(2 / repeats))
    for j in range(len(design.terms)):
        both = limits(counts[:, j], np.full(repeats, float(n)), 0.95, 0.5)
        inside = ((both - q) / (p - q) <= shares[j]) @ np.array([1, -1]) == 1
        # 5.5 standard deviations of a share of 95%: false alarm 4e-8
        assert inside.mean() == pytest.approx(0.95, abs=5.5 * np.sqrt(0.05 * 0.95 / repeats) + 0.004)


def test_estimates_of_groups_have_both_errors_and_contrasts():
    answers = [True] * 500 + [False] * 500 + [True] * 400 + [False] * 600
    found = COIN.estimate(answers, by=["f"] * 1000 + ["m"] * 1000)
    p, q = float(COIN.channel.own), float(COIN.channel.wrong)
    assert found["f"] == pytest.approx((0.5 - q) / (p - q))
    whole = 0.25 / 999 / (p - q) ** 2
    assert found.std_errors[0] ** 2 == pytest.approx(whole)
    # theory §3.1: the answers' part is e^ε / (n (e^ε - 1)²)
    assert found.privacy_variances[0] == pytest.approx(np.e / (999 * (np.e - 1) ** 2), rel=1e-9)
    apart = found.contrast("`f` - `m`")
    assert apart.std_error == pytest.approx(np.hypot(*found.std_errors))
    assert found.test("f = m").p_value < 1e-4
    assert found.test("f = 0.5").p_value == pytest.approx(1.0)
    assert found.of_table().std_errors[0] == pytest.approx(np.sqrt(found.privacy_variances[0]))
    assert (found.of_table().sampling_variances == 0).all()
    exact, mid = (found.intervals(method=way) for way in ("exact", "mid-p"))
    assert (exact[:, 1] - exact[:, 0] > mid[:, 1] - mid[:, 0]).all()
    again = found.intervals(method="randomised", rng=3)
    assert (again == found.intervals(method="randomised", rng=3)).all()
    assert "f" in str(found)
    assert found.to_frame().shape == (2, 5)
    several = SURVEY.estimate([SURVEY.respond("a") for _ in range(300)], by=["x", "y", "y"] * 100)
    assert several.terms == tuple(f"{g}:{v}" for g in "xy" for v in "abcd")
    assert several.normal.cov.shape == (8, 8)
    assert several.contrast("`x:a` - `y:a`").std_error > 0


def test_weighted_answers_against_simulation():
    rng = np.random.default_rng(11)
    n, repeats = 3_000, 600
    groups = rng.random(n) < 0.3
    weights = np.where(groups, 3.0, 1.0)
    p, q = float(COIN.channel.own), float(COIN.channel.wrong)
    values, errors = [], []
    for _ in range(repeats):
        truth = rng.random(n) < np.where(groups, 0.6, 0.1)
        shown = rng.random(n) < np.where(truth, p, q)
        one = COIN.estimate(shown.tolist(), weights=weights.tolist())
        values.append(one.value)
        errors.append(one.std_error)
    truth = np.average(np.where(groups, 0.6, 0.1), weights=weights)
    sd = np.std(values)
    # a mean of 600: 5 sd, false alarm 6e-7; an sd of 600 has 2.9% of error
    assert np.mean(values) == pytest.approx(truth, abs=5 * sd / np.sqrt(repeats))
    assert np.mean(errors) == pytest.approx(sd, rel=5 * np.sqrt(0.5 / repeats))
    assert one.normal.std_error == pytest.approx(one.std_error)


def test_a_logistic_regression_of_randomised_answers():
    rng = np.random.default_rng(8)
    coin = tc.local.Warner(epsilon=2)
    p, q = float(coin.channel.own), float(coin.channel.wrong)
    n, repeats = 4_000, 200
    truth = np.array([-0.5, 0.8])
    z = []
    for _ in range(repeats):
        x = rng.normal(size=n)
        yes = rng.random(n) < 1 / (1 + np.exp(-(truth[0] + truth[1] * x)))
        frame = pd.DataFrame({"x": x, "answer": rng.random(n) < np.where(yes, p, q)})
        found = coin.logistic("answer ~ x", frame)
        assert found.reasons == (None, None)
        z.append((found.values - truth) / found.std_errors)
    # mean and sd of 200 standard normals: 5 standard deviations each, false alarm 6e-7
    assert np.mean(z, axis=0) == pytest.approx([0, 0], abs=5 / np.sqrt(repeats) + 0.1)
    assert np.std(z, axis=0) == pytest.approx([1, 1], rel=5 * np.sqrt(0.5 / repeats))
    assert (found.privacy_variances > 0).all()
    lost = coin.logistic("answer ~ x", pd.DataFrame({"x": x, "answer": [True] * n}))
    assert lost.reason.notna().all()
    assert np.isinf(lost.intervals()).all()


def test_the_plan_is_the_variance_of_theory():
    plan = COIN.plan(1_000, share=0.3)
    # theory §3.1: p (1 - p) / n + e^ε / (n (e^ε - 1)²)
    assert plan.std_error**2 == pytest.approx(0.21 / 1_000 + np.e / (1_000 * (np.e - 1) ** 2))
    assert plan.central**2 == pytest.approx(0.21 / 1_000 + 2 / 1_000**2)
    assert COIN.plan(plan.rows_for(0.05), share=0.3).width == pytest.approx(0.05, rel=1e-3)
    assert "people" in str(plan)


@pytest.mark.parametrize("kind", ["Warner", "KaryResponse", "UnaryEncoding", "SubsetSelection"])
def test_the_plan_s_price_is_the_least_thousandth_that_reaches_a_width(kind):
    make = getattr(tc.local, kind)

    def made(epsilon):
        return (make(epsilon) if kind == "Warner" else make(list("abcdefg"), epsilon)).plan(10_000, share=0.1)

    for width in (0.3, 0.03):
        found = made(1).epsilon_for(width)
        assert made(found).width <= width < made(round(found - 0.001, 3)).width
        # whatever the price of the design from which it is planned
        assert made(4).epsilon_for(width) == found
    # more answers reach it at a smaller price
    assert make(*([list("ab")] if kind != "Warner" else []), 1).plan(10**6).epsilon_for(0.03) < 1
    with pytest.raises(TacitError, match=r"\[Q163\].*at ε = 20"):
        made(1).epsilon_for(0.001)


def test_no_limits_from_the_count_alone_are_near_the_level_for_every_share():
    # docs/reference/local.md says so of 50 answers, ε = 4, a share of 0.5%
    coin = tc.local.Warner(epsilon=4)
    p, q = float(coin.channel.own), float(coin.channel.wrong)
    chances = stats.binom(50, q + (p - q) * 0.005).pmf(np.arange(51))
    # a set of counts with at least 94.5% lacks single counts of at most 5.5% only: all sums of those
    lacking = np.zeros(1)
    few = chances[(chances <= 0.055) & (chances > 1e-12)]
    for one in few:
        lacking = np.unique(np.concatenate([lacking, lacking + one]))
    assert (chances[:4] > 0.055).all()
    assert lacking.max() < 0.028  # so that a set with all of 0 to 3 has over 97.2%
    assert 1 - chances[:4].min() < 0.9215  # and one without any of them has less than 92.2%
    # limits of each count hold the share or do not: with the probability of a set of counts
    for method, least, most in (("mid-p", 0.97, 0.98), ("exact", 0.99, 1.0), ("randomised", 0.945, 0.955)):
        draws = 400 if method == "randomised" else 1
        covered = 0.0
        for u in (np.arange(draws) + 0.5) / draws:
            part = {"mid-p": 0.5, "exact": 1.0}.get(method, np.full(51, u))
            found = limits(np.arange(51.0), np.full(51, 50.0), 0.95, part)
            inside = ((found - q) / (p - q) <= 0.005) @ np.array([1, -1]) == 1
            covered += float(inside @ chances) / draws
        assert least <= covered <= most


def test_a_forced_yes_alone_is_refused_with_the_reason():
    with pytest.raises(TacitError, match="proof of innocence"):
        tc.local.ForcedResponse(epsilon=1, forced="yes")
    half = tc.local.ForcedResponse(truth="0.5")
    assert float(half.channel.own) == pytest.approx(0.75)
    assert half.largest_ratio <= 3 + 1e-11


def test_files_of_responses_count_once(tmp_path):
    documents = [COIN.response(truth) for truth in (True, False, True)]
    for i, one in enumerate(documents):
        (tmp_path / f"{i}.json").write_text(json.dumps(one))
    paths = sorted(tmp_path.glob("*.json"))
    found = tc.local.Responses.load(COIN, paths)
    assert sorted(found.tokens) == sorted(one["token"] for one in documents)
    assert COIN.estimate(found).answers == 3
    found.save(tmp_path / "all.json")
    again = tc.local.Responses.load(COIN, [tmp_path / "all.json"])
    assert sorted(again.tokens) == list(again.tokens) == sorted(found.tokens)
    for wrong in ([*paths, paths[0]], [tmp_path / "all.json", paths[1]]):
        with pytest.raises(TacitError, match="counted already") as problem:
            tc.local.Responses.load(COIN, wrong)
        assert problem.value.code == "Q162"
    with pytest.raises(TacitError, match="another design"):
        tc.local.Responses.load(tc.local.Warner(epsilon=2), paths)
    (tmp_path / "bad.json").write_text('{"tacit": 1, "kind": "local-response", "answer": true}')
    with pytest.raises(TacitError) as problem:
        tc.local.Responses.load(COIN, [tmp_path / "bad.json"])
    assert problem.value.code == "Q162"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: tc.local.Warner(epsilon=0), "B01"),
        (lambda: tc.local.Warner(epsilon=float("nan")), "B01"),
        (lambda: tc.local.Warner(epsilon=1e-9), "Q160"),
        (lambda: tc.local.Warner(epsilon=50), "Q160"),
        (lambda: tc.local.Warner(), "Q160"),
        (lambda: tc.local.Warner(eps=1), "Q160"),
        (lambda: tc.local.ForcedResponse(), "Q160"),
        (lambda: tc.local.ForcedResponse(truth=1), "Q160"),
        (lambda: tc.local.ForcedResponse(truth=1.5), "Q160"),
        (lambda: tc.local.ForcedResponse(epsilon=1, forced="maybe"), "Q160"),
        (lambda: tc.local.KaryResponse(["a"], epsilon=1), "Q160"),
        (lambda: tc.local.KaryResponse("ab", epsilon=1), "Q160"),
        (lambda: tc.local.KaryResponse(["a", "a"], epsilon=1), "Q160"),
        (lambda: tc.local.KaryResponse([1.5, 2.5], epsilon=1), "Q160"),
        (lambda: tc.local.SubsetSelection(list("abc"), epsilon=1, size=3), "Q160"),
        (lambda: COIN.respond("yes"), "Q161"),
        (lambda: COIN.respond(1), "Q161"),
        (lambda: COIN.respond(None), "Q161"),
        (lambda: SURVEY.respond("e"), "Q161"),
        (lambda: COIN.estimate([True, "no"]), "Q161"),
        (lambda: SURVEY.estimate([("a", "a")]), "Q161"),
        (lambda: SURVEY.estimate(["a"]), "Q161"),
        (lambda: tc.local.UnaryEncoding(list("ab"), 1).estimate([("a", "z")]), "Q161"),
        (lambda: COIN.estimate([]), "Q163"),
        (lambda: COIN.estimate("True"), "Q163"),
        (lambda: COIN.estimate(3), "Q163"),
        (lambda: COIN.estimate([True], by=["f", "m"]), "Q163"),
        (lambda: COIN.estimate([True], by=[None]), "Q163"),
        (lambda: COIN.estimate([True], weights=[-1]), "Q163"),
        (lambda: COIN.estimate([True], weights=[float("nan")]), "Q163"),
        (lambda: COIN.estimate([True], weights="a"), "Q163"),
        (lambda: COIN.estimate([True, False]).conf_int(0.2), "I01"),
        (lambda: COIN.estimate([True, False]).conf_int(method="wald"), "I08"),
        (lambda: COIN.estimate([True, False]).test("no = 1"), "I02"),
        (lambda: COIN.plan(0), "Q163"),
        (lambda: COIN.plan(10, share=2), "Q163"),
        (lambda: COIN.plan(10).rows_for(0), "Q163"),
        (lambda: COIN.plan(10).rows_for("narrow"), "Q163"),
        (lambda: COIN.plan(10).epsilon_for(1), "Q163"),
        (lambda: COIN.plan(10).epsilon_for(0.1), "Q163"),
        (lambda: COIN.page("a.html", question=" "), "Q163"),
        (lambda: COIN.page("a.html"), "Q163"),
        (lambda: COIN.asking("Ever?").page("a.html", question="Never?"), "Q163"),
        (lambda: tc.local.Warner(epsilon=1, question=3), "Q163"),
        (lambda: COIN.asking("x" * 501), "Q163"),
        (lambda: COIN.page("a.pdf", question="Ever?"), "F10"),
        (lambda: SURVEY.logistic("a ~ b", pd.DataFrame({"a": [1]})), "Q163"),
        (lambda: COIN.logistic("answer ~ x", pd.DataFrame({"x": [1.0]})), "Q163"),
        (lambda: COIN.logistic("answer ~ z", pd.DataFrame({"answer": [True]})), "Q163"),
        (lambda: COIN.logistic("answer ~ x", pd.DataFrame({"answer": [True], "x": [np.inf]})), "Q163"),
    ],
)
def test_what_is_refused(call, code):
    with pytest.raises(TacitError) as problem:
        call()
    assert problem.value.code == code
    assert problem.value.hint or code.startswith("I")


@pytest.mark.parametrize("design", [COIN, SURVEY, BITS], ids=lambda one: one.name)
def test_an_error_never_repeats_what_may_be_a_true_answer(design):
    for call in (design.respond, design.response, design.supports):
        with pytest.raises(TacitError) as problem:
            call("secretive")
        assert "secretive" not in str(problem.value)


def test_responses_to_two_questions_of_one_design_are_not_mixed(tmp_path):
    cheated, stolen = (tc.local.Warner(epsilon=1, question=f"Have you ever {one}?") for one in ("cheated", "stolen"))
    assert cheated.channel == stolen.channel
    assert len({COIN.digest, cheated.digest, stolen.digest}) == 3
    assert cheated == COIN.asking(" Have you ever cheated? ")
    found = tc.local.Responses.of(cheated, [cheated.response(True) for _ in range(3)])
    found.save(tmp_path / "cheated.json")
    assert tc.local.Responses.load(cheated, [tmp_path / "cheated.json"]).answers == tuple(
        answer for _, answer in sorted(zip(found.tokens, found.answers, strict=True))
    )
    for other in (stolen, COIN):
        with pytest.raises(TacitError, match=r"\[Q162\].*another question"):
            tc.local.Responses.load(other, [tmp_path / "cheated.json"])
    with pytest.raises(TacitError, match="Q162"):
        tc.local.Responses.of(cheated, [cheated.response(True), stolen.response(True)])


def test_files_of_designs_without_a_question_still_open():
    # as an earlier version wrote it
    digest = "f7b0c6260a9fbf4c166c34d977979fd75c387fb4b7299fb8c4d8e5305d721177"
    assert COIN.digest == digest
    old = {"tacit": 1, "kind": "local-response", "design": digest, "answer": True, "token": "0" * 32}
    assert tc.local.Responses.of(COIN, [old]).answers == (True,)


def script(path):
    return re.search(r"<script>(.*)</script>", path.read_text(), re.S).group(1)


def test_the_page_has_no_network_and_no_way_to_leave_it(tmp_path):
    hostile = tc.local.KaryResponse(["</script><b>", "b&c"], epsilon=1)
    hostile.page(tmp_path / "p.html", question="<img src=x>?")
    text = (tmp_path / "p.html").read_text()
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|fetch\(|XMLHttp|localStorage|document\.cookie|src=(?!x&gt;)", text)
    assert text.count("</script>") == 1
    assert "<img" not in text
    assert "<b>" not in text


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js, to run the page's script")
@pytest.mark.parametrize("design", [COIN, SURVEY, BITS], ids=lambda one: one.name)
def test_the_page_draws_the_same_law(tmp_path, design):
    from test_channels import chi2

    design.page(tmp_path / "p.html", question="Ever?")
    code = script(tmp_path / "p.html").partition("const form")[0]
    n, level = 20_000, 1
    loop = f"const out = []; for (let i = 0; i < {n}; i++) out.push(respond(DESIGN, {level}));"
    told = "console.log(JSON.stringify([out, answer(DESIGN, respond(DESIGN, 0)), DESIGN.digest]))"
    run = subprocess.run(["node", "-e", f"{code}{loop}{told}"], capture_output=True, text=True, check=True, timeout=60)
    drawn, answer, digest = json.loads(run.stdout)
    assert digest == design.asking("Ever?").digest
    design.supports(answer)
    # three tests at 1e-7
    assert chi2(design.channel, level, Counter(map(tuple, drawn)), n) > 1e-7


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, to use the page as a person does")
def test_the_page_answers_in_a_browser(tmp_path):
    SURVEY.page(tmp_path / "p.html", question="Which?")
    page = (tmp_path / "p.html").read_text()
    press = "<script>form.querySelector(\"input[value='2']\").checked = true; form.requestSubmit();</script></body>"
    (tmp_path / "pressed.html").write_text(page.replace("</body>", press))
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    words += ["--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    run = subprocess.run(
        [str(CHROMIUM), *words, (tmp_path / "pressed.html").as_uri()], capture_output=True, text=True, timeout=120
    )
    assert 'id="asked"' not in run.stdout  # the question with the true answer is gone
    told = json.loads(re.search(r'<code id="text">(.*?)</code>', run.stdout).group(1))
    assert tc.local.Responses.of(SURVEY.asking("Which?"), [told]).answers == (told["answer"],)
    shown = re.search(r'<output id="answer">(.*?)</output>', run.stdout).group(1)
    assert shown == ", ".join(told["answer"])

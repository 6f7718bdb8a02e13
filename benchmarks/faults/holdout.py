"""Faults of the reusable hold-out: what a run costs, who pays for it, and what it leaves behind."""

from __future__ import annotations

from faults.fault import Fault

PRIVACY = "tests/holdout/test_holdout_privacy.py"
CHECKS = "tests/holdout/test_reusable_holdout.py"

FAULTS = (
    Fault(
        "tacit.holdout.holdout_design",
        "        return DiscreteLaplace(2 * self.sensitivity / (QUARTER * self.epsilon))",
        "        return DiscreteLaplace(self.sensitivity / (QUARTER * self.epsilon))",
        "comparisons have half the noise that they are charged for",
        (f"{PRIVACY}::test_comparisons_of_a_run_cost_half_of_it_however_many_they_are",),
    ),
    Fault(
        "tacit.holdout.holdout_design",
        "        return DiscreteLaplace(self.sensitivity / (QUARTER * self.epsilon))",
        "        return DiscreteLaplace(self.sensitivity / (2 * QUARTER * self.epsilon))",
        "the threshold has half the noise that it is charged for",
        (f"{PRIVACY}::test_comparisons_of_a_run_cost_half_of_it_however_many_they_are",),
    ),
    Fault(
        "tacit.holdout.holdout_design",
        "        return self.steps + self.threshold_steps\n",
        "        return self.steps\n",
        "a row that comes or goes moves the threshold too, which no noise covers",
        (f"{PRIVACY}::test_the_sensitivity_is_reached_where_a_row_comes_or_goes",),
    ),
    Fault(
        "tacit.holdout.holdout_design",
        "        return Cost(epsilon=self.epsilon / 2)",
        "        return Cost(epsilon=self.epsilon)",
        "an answer spends all of a run's price, of which the comparisons spent half",
        (f"{PRIVACY}::test_an_answer_costs_half_of_its_run",),
    ),
    Fault(
        "tacit.holdout.holdout_design",
        "return near if near**2 <= twice else significant(root, DIGITS, up=False)",
        "return near",
        "the runs of a price in ρ cost more than it",
        (f"{PRIVACY}::test_prices_of_runs_add_up_to_no_more_than_the_price",),
    ),
    Fault(
        "tacit.holdout.mechanism_holdout",
        "        fresh = int(draw(self._design.comparison_law, 1)[0])\n",
        "        fresh = 0\n",
        "without fresh noise the order of scores shows",
        (f"{PRIVACY}::test_the_code_draws_from_the_law_that_was_audited",),
    ),
    Fault(
        "tacit.holdout.mechanism_holdout",
        "place) + fresh >= noise:\n            return True\n",
        "place) + fresh >= noise:\n            self._noise = noise\n            return True\n",
        "a threshold goes on after it was passed",
        (f"{PRIVACY}::test_a_run_is_over_with_its_first_difference",),
    ),
    Fault(
        "tacit.curator.reusable_holdout",
        "            self._run = None\n            text = guarded(",
        "            text = guarded(",
        "a check that failed leaves its run going on, with an answer that may have been found already",
        (f"{CHECKS}::test_a_check_that_fails_ends_its_run_and_the_charge_stands",),
    ),
    Fault(
        "tacit.curator.reusable_holdout",
        "self._context.ledger.charge(request, new=True)",
        "self._context.ledger.charge(request)",
        "two processes that race share one charge",
        (f"{CHECKS}::test_a_charge_that_must_be_new_is_refused_where_it_is_known",),
    ),
    Fault(
        "tacit.curator.reusable_holdout",
        "        one._run = None  # pyright: ignore[reportPrivateUsage]\n",
        "",
        "a forked process keeps its parent's noisy threshold in memory",
        (f"{CHECKS}::test_a_forked_process_has_no_run",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "                if new:  # refused in the writing transaction: of two processes one gets the charge\n",
        "                if False:\n",
        "a charge that must be new is given twice",
        (f"{CHECKS}::test_a_charge_that_must_be_new_is_refused_where_it_is_known",),
    ),
    Fault(
        "tacit.holdout.holdout_score",
        "        if not number or not self.lower <= float(value) <= self.upper:\n",
        "        if not number:\n",
        "a training value outside the range of its score is compared",
        (f"{CHECKS}::test_a_check_that_cannot_be_asked_costs_nothing",),
    ),
)

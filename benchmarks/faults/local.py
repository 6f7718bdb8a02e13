"""Faults of randomised answers and of what a price is said to mean: too little noise, an answer counted twice."""

from __future__ import annotations

from faults.fault import Fault

CHANNELS = "tests/local/test_channels.py"
ANSWERS = "tests/local/test_responses.py"
MEANING = "tests/meaning/test_explain.py"
RATIOS = f"{CHANNELS}::test_every_likelihood_ratio_is_at_most_e_to_the_epsilon_and_it_is_attained"
DRAWN = f"{CHANNELS}::test_what_is_drawn_has_the_law_and_a_law_ten_percent_off_is_seen"

FAULTS = (
    Fault(
        "tacit.local.priced_channel",
        'Channel("choice", levels, most_of(growth(epsilon), Fraction(levels - 1)))',
        'Channel("choice", levels, most_of(growth(epsilon), Fraction(levels - 1)) + 1)',
        "the truth is told with a probability rounded against privacy",
        (RATIOS,),
    ),
    Fault(
        "tacit.local.priced_channel",
        "GRID // 2, least_of(Fraction(1), growth(epsilon)))",
        "GRID // 2, least_of(Fraction(1), growth(epsilon)) - 1)",
        "other levels are raised with a probability rounded against privacy",
        (RATIOS,),
    ),
    Fault(
        "tacit.local.priced_channel",
        "most_of(d * growth(epsilon), Fraction(k - d))",
        "most_of(d * growth(epsilon), Fraction(k - 1))",
        "sets of several levels hold the own one with another probability than the optimal one",
        (RATIOS,),
    ),
    Fault(
        "tacit.local.mechanism_respond",
        "(half if i == level else channel.other)",
        "(channel.other if i == level else half)",
        "the own level is the one that is raised rarely",
        (DRAWN,),
    ),
    Fault(
        "tacit.local.mechanism_respond",
        "kept = secrets.randbits(48) < channel.truth",
        "kept = secrets.randbits(47) < channel.truth",
        "the own level is kept always where it should be kept half of the time",
        (DRAWN,),
    ),
    Fault(
        "tacit.local.mechanism_respond",
        "[i + (i >= level) for i in others]",
        "[i + (i > level) for i in others]",
        "an answer that was to be another level is the own one",
        (DRAWN,),
    ),
    Fault(
        "tacit.local.responses",
        "            if token in seen:\n",
        "            if False:\n",
        "a file that is read twice counts twice",
        (f"{ANSWERS}::test_files_of_responses_count_once",),
    ),
    Fault(
        "tacit.local.response_design",
        'raise QueryError(f"a level was given that {self.name} does not have."',
        'raise QueryError(f"{level!r} was given, which {self.name} does not have."',
        "an error repeats what may be somebody's true answer",
        (f"{ANSWERS}::test_an_error_never_repeats_what_may_be_a_true_answer",),
    ),
    Fault(
        "tacit.meaning.explanation",
        "next((one.promise for one in self.cases if one.values), self.promise)",
        "self.promise",
        "under add-remove a secret is said to be guessed at half of what it costs",
        (f"{MEANING}::test_presence_and_values_under_add_remove",),
    ),
    Fault(
        "tacit.meaning.population",
        "special().bdtrc(middle, self.people, each)",
        "special().bdtrc(middle + 1, self.people, each)",
        "the number of right guesses exceeds what is said more often than is said",
        (f"{MEANING}::test_a_population_of_secrets_told_by_randomised_response",),
    ),
)

"""Faults at the door: what a question is, who pays, and what leaves where something fails."""

from __future__ import annotations

from faults.fault import Fault

QUESTION = "tests/curator/test_question.py"
CURATOR = "tests/curator/test_curator.py"
GUARD = "tests/curator/test_guard.py"
STUDY = "tests/study/test_study_releases.py"
PAIRS = "tests/ledger/test_pairs.py"
IMPORT = "tests/files/test_import_text.py"
DRAFTS = "tests/files/test_drafted_files.py"

WORDS = "tests/curator/test_bad_arguments.py"
BINS = "tests/mechanisms/test_numbers_of_bins.py"

SHARES = "tests/curator/test_shares_with_a_delta.py"

FAULTS = (
    Fault(
        "tacit.curator.request",
        "whole.share(part / total)",
        "cost.share(part / total)",
        "questions share all of a pair's mu^2, beside the δ that one of them has of its own",
        (f"{SHARES}::test_the_shares_are_those_of_the_approximate_part",),
    ),
    Fault(
        "tacit.method.shared.price_parts",
        "    return parts[0] if len(designs) == 1 else approximate_part(cost)",
        "    return parts[0] if len(designs) == 1 else cost",
        "a ledger of mu^2 is not charged the δ of a question among several",
        (f"{SHARES}::test_what_is_charged_is_what_the_pair_buys",),
    ),
    Fault(
        "tacit.planning.page",
        "limit.admits(spent, self.charged, self.bought) for",
        "limit.admits(spent, self.cost, self.bought) for",
        "a plan fits a pair's mu^2 where the release is charged an approximate part",
        (f"{SHARES}::test_a_plan_counts_the_delta_of_a_part",),
    ),
    Fault(
        "tacit.source.suggested_types",
        '        return "many" if self.distinct is None else "few"',
        '        return "many" if self.distinct is None else ", ".join(sorted(self.distinct))',
        "a draft lists the texts that it found as levels",
        (f"{DRAFTS}::test_each_kind_of_text_has_its_word",),
    ),
    Fault(
        "tacit.schema.drafting",
        '    return f"# {key_text(name)} = {column}"',
        '    return f"{key_text(name)} = {column}"',
        "what rows look like declares a type before a person has decided",
        (f"{DRAFTS}::test_a_draft_becomes_a_release",),
    ),
    Fault(
        "tacit.cli.draft_commands",
        "    if os.path.exists(save):",
        "    if os.path.isdir(save):",
        "a draft replaces the file that a steward filled in",
        (f"{DRAFTS}::test_a_draft_replaces_no_file_and_reads_no_row_unasked",),
    ),
    Fault(
        "tacit.cli.actions",
        "    schema = schema_of(path)",
        "    schema = read(path).schema",
        "an import fails on a question that is not finished",
        (f"{DRAFTS}::test_an_import_reads_the_schema_alone",),
    ),
    Fault(
        "tacit.release.query",
        "    if holds_rows(value):\n",
        "    if False:\n",
        "a mask in where= or a column in place of a name reaches the query",
        (f"{WORDS}::test_a_mask_repeats_no_cell_and_spends_nothing", f"{WORDS}::test_the_fix_is_named"),
    ),
    Fault(
        "tacit.schema.predicates.parser",
        'what = "empty" if isinstance(text, str) else kind_of(text)',
        'what = "empty" if isinstance(text, str) else repr(text)',
        "the error of a mask that is a list repeats its values",
        (f"{WORDS}::test_a_mask_repeats_no_cell_and_spends_nothing",),
    ),
    Fault(
        "tacit.curator.curator",
        "parts = tuple((name, of_numbers(query, self.schema), cost) for name, query, cost in questions.parts)",
        "parts = questions.parts",
        "bins=12 and the same bins by name are charged as two questions",
        (f"{BINS}::test_a_number_of_bins_is_of_every_numeric_column",),
    ),
    Fault(
        "tacit.curator.purchase",
        '        "schema": context.schema.digest(),\n        "neighbors"',
        '        "neighbors"',
        "the same words under another schema are answered on the old scale",
        (f"{QUESTION}::test_another_schema_is_another_question",),
    ),
    Fault(
        "tacit.curator.purchase",
        '        "table": context.name,\n        "schema"',
        '        "schema"',
        "this year's question is answered with last year's table",
        (f"{QUESTION}::test_another_table_is_another_question",),
    ),
    Fault(
        "tacit.curator.purchase",
        '        "unit": context.unit,\n',
        "",
        "a question about persons is that about persons with fewer rows",
        (f"{QUESTION}::test_what_is_recorded_of_a_question",),
    ),
    Fault(
        "tacit.curator.purchase",
        '        "mechanism": "+".join(sorted({one.mechanism for one in designs})),\n',
        "",
        "a later version's mechanism is answered by an earlier one's release",
        (f"{QUESTION}::test_what_is_recorded_of_a_question",),
    ),
    Fault(
        "tacit.curator.purchase",
        "return guarded(partial(_bought, questions, designs, charge, context), log_of(context.ledger), LedgerError)",
        "return _bought(questions, designs, charge, context)",
        "an error that quotes a row reaches the user",
        (f"{CURATOR}::test_a_failure_leaves_the_charge_and_says_nothing",),
    ),
    Fault(
        "tacit.curator.purchase",
        "return guarded(partial(_bought, questions, designs, charge, context), log_of(context.ledger), LedgerError)",
        "return guarded(partial(_bought, questions, designs, charge, context), None, LedgerError)",
        "the curator's own log says nothing of what failed",
        (f"{CURATOR}::test_a_failure_leaves_the_charge_and_says_nothing",),
    ),
    Fault(
        "tacit.curator.purchase",
        "recorded=context.ledger.where is not None,",
        "recorded=True,",
        "a release of a ledger in memory says that its charge survives",
        (f"{CURATOR}::test_a_file_has_its_ledger_beside_it_and_a_frame_says_it_has_none",),
    ),
    Fault(
        "tacit.curator.purchase",
        "        if found is None or found.release is None:\n",
        "        if found is None:\n",
        "a charge that a crash left without its answer is never resumed",
        (f"{PAIRS}::test_fresh_buys_anew",),
    ),
    Fault(
        "tacit.curator.purchase",
        "    if bought is None:  # a charge made before the study closed may still be answered afterwards\n",
        "    if bought is not None:\n",
        "a study is answered after its last day",
        (f"{STUDY}::test_nothing_new_after_the_last_day", f"{STUDY}::test_a_charge_of_before_is_resumed_after"),
    ),
    Fault(
        "tacit.curator.purchase",
        "    source_ready(context)\n",
        "",
        "a connection that cannot run a query costs a charge",
        ("tests/source/test_odd_cells.py::test_an_open_result_is_found_before_a_charge",),
    ),
    Fault(
        "tacit.curator.guard",
        "    return problem.with_traceback(None)\n",
        "    return problem\n",
        "frames that hold an answer hang on the error of a ledger",
        (f"{GUARD}::test_public_errors_pass_bare", f"{GUARD}::test_no_frame_of_a_failed_store_holds_the_answer"),
    ),
    Fault(
        "tacit.curator.guard",
        "    problem.__cause__ = problem.__context__ = None\n",
        "",
        "what an error of the ledger came from hangs on it",
        (f"{GUARD}::test_public_errors_pass_bare",),
    ),
    Fault(
        "tacit.curator.guard",
        "        error = MachineError()\n",
        "        raise MachineError() from None\n",
        "the error that a row caused hangs on the constant one, with its frames",
        (f"{GUARD}::test_one_constant_error_whatever_was_raised_and_wherever_the_log_is",),
    ),
    Fault(
        "tacit.curator.guard",
        "    error: BaseException\n",
        "    held = step\n    error: BaseException\n",
        "an answer that was not stored is reached by another name, from the frame of the guard",
        (f"{GUARD}::test_no_frame_of_a_step_is_held_by_another_name",),
    ),
    Fault(
        "tacit.curator.guard",
        "OWN: Final = 0o600",
        "OWN: Final = 0o644",
        "others on the machine read the rows that the log quotes",
        (f"{GUARD}::test_the_log_is_the_owners_alone_from_the_start",),
    ),
    Fault(
        "tacit.curator.guard",
        " or found.st_nlink != 1:",
        ":",
        "rows are written to a log that another name leads to",
        (f"{GUARD}::test_another_name_of_the_log_is_not_written",),
    ),
    Fault(
        "tacit.curator.guard",
        "        with silent():\n            return step()\n",
        "        return step()\n",
        "a warning about a row is said, or is an error where warnings are",
        (f"{GUARD}::test_guarded_steps_are_silent",),
    ),
    Fault(
        "tacit.curator.guard",
        "    except BaseException:\n        # inside the handler",
        "    except Exception:\n        # inside the handler",
        "a panic of an engine leaves no word in the curator's own log",
        (f"{GUARD}::test_one_constant_error_whatever_was_raised_and_wherever_the_log_is",),
    ),
    Fault(
        "tacit.base.muted",
        '        with np.errstate(all="ignore"):\n',
        '        with np.errstate(divide="ignore"):\n',
        "where NumPy raises, whether a computation ends depends on a row",
        (f"{GUARD}::test_guarded_steps_are_silent",),
    ),
    Fault(
        "tacit.method.shared.mechanism_sums",
        '        raise RuntimeError("the table changed while it was read")\n',
        '        import warnings\n\n        warnings.warn(f"{found} rows", stacklevel=2)\n',
        "a number of rows that is read is said",
        ("tests/wall/test_wall.py::test_the_wall_stands",),
    ),
    Fault(
        "tacit.curator.stored_releases",
        "if found is None or any((one.charge, one.head) != (charge.number, charge.head) for one in found.values()):",
        "if found is None:",
        "an answer that another charge bought is handed out",
        ("tests/ledger/test_damaged.py::test_a_stored_answer_that_is_none_or_another_charges",),
    ),
    Fault(
        "tacit.curator.stored_releases",
        "one.table == self._table and one.release is not None",
        "one.release is not None",
        "answers of another table are listed under this one",
        (f"{QUESTION}::test_answers_are_listed_by_table",),
    ),
    Fault(
        "tacit.curator.request",
        "whole.share(part / total)",
        "cost.share(Fraction(1, len(parts)))",
        "shares of several questions are not those that were given",
        (f"{CURATOR}::test_several_questions_are_admitted_all_or_none",),
    ),
    Fault(
        "tacit.curator.request",
        "        if part <= 0:\n",
        "        if part < 0:\n",
        "a question with no share of the price is asked",
        (f"{CURATOR}::test_bad_input_costs_nothing",),
    ),
    Fault(
        "tacit.curator.first_release",
        '    if budget.neighbors != "replace-one":\n        return None\n',
        "",
        "a number of rows that is private is counted and said",
        (f"{CURATOR}::test_odd_tables_are_answered_under_add_remove",),
    ),
    Fault(
        "tacit.cli.actions",
        "    _nothing_refuses(job, Cost.of(**cost), who, note)\n",
        "",
        "a first release that is refused leaves an empty ledger behind",
        ("tests/cli/test_commands.py::test_a_refused_first_release_leaves_nothing_behind",),
    ),
    Fault(
        "tacit.cli.dialect",
        '        if found["quoted"]:\n            return found[0]\n',
        "",
        "an error rewords what somebody typed",
        ("tests/cli/test_dialect.py::test_a_text_in_both_dialects",),
    ),
    Fault(
        "tacit.curator.first_release",
        "    if rows < 2:\n",
        "    if rows < 1:\n",
        "a table of one row, of which nothing can be protected, is opened",
        (f"{CURATOR}::test_under_replace_one_a_table_has_two_rows",),
    ),
    Fault(
        "tacit.curator.curator",
        "        self._ledger.table(self.name, self.rows)\n",
        "",
        "a filtered table is opened under the name of the whole one",
        (f"{CURATOR}::test_a_filtered_table_is_noticed",),
    ),
    Fault(
        "tacit.curator.study_rules",
        "    if today > study.closes:\n",
        "    if today >= study.closes:\n",
        "a study closes a day before its last day",
        (f"{STUDY}::test_nothing_new_after_the_last_day",),
    ),
    Fault(
        "tacit.curator.study_rules",
        "if not study.budget.spend(cost).within(study.budget.spend(study.spend)):",
        "if study.budget.spend(cost) == study.budget.spend(study.spend):",
        "a party pays more than the study asks for",
        (f"{STUDY}::test_a_party_may_spend_less_and_never_more",),
    ),
    Fault(
        "tacit.source.text_cells",
        "if text in self._codes:",
        "if text in self._codes and text not in self._nulls:",
        'the declared level "NA" (Namibia) is read as missing',
        (f"{IMPORT}::test_one_cell",),
    ),
    Fault(
        "tacit.source.text_cells",
        'return value if value is None or abs(value) < float("inf") else None',
        "return value",
        "a number beyond all floats is imported as infinite, which nobody is told of",
        (f"{IMPORT}::test_one_cell",),
    ),
    Fault(
        "tacit.source.text_import",
        "            os.fsync(file.fileno())\n",
        "            file.fileno()\n",
        "a full disk is noticed only after the new table has its name",
        (f"{IMPORT}::test_a_full_disk_leaves_nothing_behind",),
    ),
)

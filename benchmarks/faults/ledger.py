"""Faults in the ledger: charges, chain, limits, and what is on the disk."""

from __future__ import annotations

from faults.fault import Fault

FULL_DISK = "tests/ledger/test_full_disk.py"
LEDGER = "tests/ledger/test_ledger.py"
CHAIN = "tests/ledger/test_chain.py"
DURABLE = "tests/ledger/test_durable.py"
ONE_FILE = "tests/ledger/test_one_file.py"
RAISES = "tests/ledger/test_raises.py"
LIMITS = "tests/ledger/test_limits.py"
DAMAGED = "tests/ledger/test_damaged.py"
LONG = "tests/ledger/test_long_fractions.py"
HELD = "tests/ledger/test_held_releases.py"

FAULTS = (
    Fault(
        "tacit.ledger.ledger_files",
        "    if names > 1:",
        "    if names > 2:",
        "a ledger is charged under two names, under one of which an interrupted charge is undone that the other showed",
        (f"{ONE_FILE}::test_a_file_with_two_names_is_charged_under_none",),
    ),
    Fault(
        "tacit.ledger.stored_answers_check",
        'if stored["name"] == own["name"] or len(answers) == 1:',
        "if True:",
        "an answer that was bought with others passes under the name of another one",
        (f"{HELD}::test_names_are_compared_where_several_were_bought",),
    ),
    # The chain
    Fault(
        "tacit.ledger.chain",
        "if one.seq != expected or one.prev != prev or one.hash != right:",
        "if one.seq != expected or one.hash != right:",
        "an entry that was edited, with its own hash made anew, passes when a ledger is verified",
        (f"{CHAIN}::test_an_edit_with_its_own_hash_made_anew_is_found",),
    ),
    Fault(
        "tacit.ledger.chain",
        "if one.seq != expected or one.prev != prev or one.hash != right:",
        "if one.prev != prev or one.hash != right:",
        "entries whose numbers have a gap pass when a ledger is verified",
        (f"{CHAIN}::test_places_are_counted_from_one_without_a_gap",),
    ),
    Fault(
        "tacit.ledger.chain",
        "canonical([seq, kind, key, body, prev])",
        "canonical([seq, kind, body, prev])",
        "a charge can be given to another question",
        (f"{CHAIN}::test_every_field_is_in_the_hash",),
    ),
    Fault(
        "tacit.ledger.chain",
        "return hashlib.sha256(self.question.encode()).hexdigest()",
        "return hashlib.sha256((self.question + self.note).encode()).hexdigest()",
        "the same question with another note is charged again",
        ("tests/curator/test_question.py::test_who_asks_and_what_is_noted_are_no_part_of_it",),
    ),
    Fault(
        "tacit.ledger.chain_view",
        "return entry.seq == self.last + 1 and entry.prev == prev and first and new and _own(entry)",
        "return entry.seq == self.last + 1 and first and new and _own(entry)",
        "a ledger with an edited charge, its own hash made anew, is opened and spent from",
        (f"{CHAIN}::test_an_edit_with_its_own_hash_made_anew_is_found",),
    ),
    Fault(
        "tacit.ledger.chain_view",
        "entry.hash == self.hashes[seq - 1] and _own(entry)",
        "entry.hash == self.hashes[seq - 1]",
        "an answer that was changed under an open ledger is handed out",
        (f"{ONE_FILE}::test_an_open_ledger_sees_what_is_changed_under_it",),
    ),
    Fault(
        "tacit.ledger.entry_forms",
        "    fits = fits and entry.key == hashlib.sha256(charge.question.encode()).hexdigest()\n",
        "",
        "a charge whose question was exchanged answers another one",
        (f"{DAMAGED}::test_a_charge_that_says_something_else_is_damage",),
    ),
    # Charges
    Fault(
        "tacit.ledger.ledger",
        "        if not now.within(paid):\n",
        "        if not paid.within(paid):\n",
        "a charge without an answer is resumed by what costs more than was charged",
        (
            "tests/curator/test_resumed_as_charged.py"
            "::test_another_size_hint_does_not_resume_what_would_cost_more[budget0-price0-10000-1000000]",
        ),
    ),
    Fault(
        "tacit.privacy.exact_numbers",
        "return x if x.denominator <= SMALL * shared else significant(x, 40, up=True)",
        "return x",
        "prices with long fractions make sums that no ledger is read with again",
        (f"{LONG}::test_a_ledger_of_long_prices_is_read_again[pure-1000]",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "        fits = total.fits(spent, price)\n",
        "        fits = total.admits(spent, cost, bought)\n",
        "after a raise a charge is recorded that goes beyond the total by its rounding",
        (f"{LONG}::test_a_raise_does_not_change_how_a_price_is_rounded",),
    ),
    Fault(
        "tacit.ledger.ledger",
        '(before.words["number"] + 1, _spent(before))',
        '(before.words["number"] + 1, Spend())',
        "every charge is held against the whole budget",
        (f"{LEDGER}::test_the_budget_is_spent_to_the_last_bit_and_not_further",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "        if release is None:  # the caller will now read rows, so the charge must survive a loss of power\n",
        "        if release is not None:\n",
        "rows are read although the file does not show the charge",
        (
            f"{ONE_FILE}::test_no_data_without_the_charge_in_the_file_alone",
            f"{DURABLE}::test_no_row_is_read_before_the_file_was_looked_at",
        ),
    ),
    Fault(
        "tacit.ledger.ledger",
        "                return known.body\n",
        "                return document\n",
        "two who resume one charge get two answers for it",
        (f"{LEDGER}::test_charge_then_release_then_the_same_answer",),
    ),
    Fault(
        "tacit.ledger.ledger",
        'if newest is None or not 1 <= number <= newest.words["number"]:',
        "if newest is not None and number < 1:",
        "an answer is stored that nobody was charged for",
        (f"{LEDGER}::test_a_release_needs_its_charge",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "            self._names_free(tx, request)\n",
        "",
        "a name that is taken ends in the error of a race",
        (f"{LEDGER}::test_names_are_of_one_question",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "        if recorded != rows:\n",
        "        if rows is None and recorded != rows:\n",
        "a filtered table passes for the whole one",
        (f"{LEDGER}::test_an_edition_keeps_its_size",),
    ),
    Fault(
        "tacit.ledger.ledger",
        '"spent": (spent + price).to_dict(),',
        '"spent": price.to_dict(),',
        "only the newest charge counts as spent",
        (f"{LEDGER}::test_the_budget_is_spent_to_the_last_bit_and_not_further",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "            if heads[number] != head:\n",
        "            if head not in heads.values():\n",
        "a release passes that says it was bought by another charge",
        (f"{RAISES}::test_releases_are_held_against_a_raised_ledger",),
    ),
    Fault(
        "tacit.ledger.stored_answers_check",
        'ASIDE: Final = ("study",)',
        'ASIDE: Final = ("study", "parts")',
        "a file whose counts were edited passes for what was bought",
        (f"{HELD}::test_an_edited_count_is_named",),
    ),
    Fault(
        "tacit.ledger.backup",
        '            verify_store(copy, Budget.from_dict(header_words(copy, header)["budget"]))\n',
        "",
        "a damaged ledger is backed up as if it were sound",
        (f"{ONE_FILE}::test_a_backup_that_does_not_verify_gets_no_name",),
    ),
    # Promises
    Fault(
        "tacit.ledger.open_ledger",
        '    if words["unit"] != unit:\n',
        '    if words["unit"] is None and unit is not None:\n',
        "a ledger that protects persons is spent as if it protected rows",
        (f"{LEDGER}::test_a_ledger_of_persons_is_no_ledger_of_rows",),
    ),
    Fault(
        "tacit.ledger.open_ledger",
        "if budget is not None and budget.under(ledger.first) != ledger.budget:",
        "if budget is not None and budget.under(ledger.first).kind != ledger.budget.kind:",
        "another promise than the ledger's is taken without a word",
        (f"{LEDGER}::test_identity_is_fixed_at_creation",),
    ),
    Fault(
        "tacit.ledger.acts",
        "return all(old is None or old <= new for old, new in pairs) and before.limit.within(total.limit)",
        "return before.limit.within(total.limit)",
        "a pair is raised in epsilon while its delta falls",
        (f"{RAISES}::test_what_is_no_raise_is_refused",),
    ),
    Fault(
        "tacit.ledger.acts",
        "return (one.kind, one.neighbors) == (other.kind, other.neighbors)",
        "return one.kind == other.kind",
        "a promise to rows that come and go is raised as one to rows that are replaced",
        (f"{RAISES}::test_what_is_no_raise_is_refused",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "            if not most.holds(own):\n",
        "            if most.holds(own) is None:\n",
        "a limit is set below what an analyst has spent",
        (f"{LIMITS}::test_a_limit_goes_up_and_down_but_not_below_what_is_spent",),
    ),
    Fault(
        "tacit.ledger.ledger",
        "if limit is not None and request.analyst is not None:",
        "if limit is not None and request.analyst is None:",
        "limits of analysts bind nobody",
        ("tests/curator/test_analysts.py::test_a_limit_binds_its_analyst_and_nobody_else",),
    ),
    Fault(
        "tacit.ledger.chain_audit",
        'summed = words["number"] == self.charges and Spend.from_dict(words["spent"]) == self.spent',
        'summed = words["number"] == self.charges',
        "a sum that was written too low, with every hash made anew, passes when a ledger is verified",
        (f"{ONE_FILE}::test_a_backup_that_does_not_verify_gets_no_name",),
    ),
    Fault(
        "tacit.ledger.chain_audit",
        "found.number == self.raises and found.before == self.budget and",
        "found.number == self.raises and",
        "a raise of another total passes when a ledger is verified",
        (f"{RAISES}::test_a_raise_of_another_total_than_the_one_in_force_is_found",),
    ),
    Fault(
        "tacit.ledger.chain_audit",
        "return summed and self.budget.holds(self.spent) and",
        "return summed and",
        "charges beyond the total of their time pass when a ledger is verified",
        (f"{RAISES}::test_a_charge_before_its_raise_is_found",),
    ),
    # The disk
    Fault(
        "tacit.ledger.ledger_files",
        "        flush_folder(path)\n        return\n",
        "        return\n",
        "a loss of power takes the name of a new ledger, and all charges with it",
        (f"{DURABLE}::test_the_name_of_a_new_ledger_is_on_the_disk",),
    ),
    Fault(
        "tacit.ledger.ledger_files",
        "        os.fsync(folder)\n",
        "        os.stat(folder)\n",
        "names of ledgers and copies are not flushed to the disk",
        (f"{DURABLE}::test_a_folder_is_flushed_by_itself",),
    ),
    Fault(
        "tacit.ledger.ledger_files",
        "        os.fsync(handle)\n",
        "        os.stat(handle)\n",
        "a backup has its name before its bytes are on the disk",
        (f"{DURABLE}::test_bytes_of_a_copy_are_on_the_disk_before_its_name_and_then_the_name",),
    ),
    Fault(
        "tacit.ledger.ledger_files",
        "        os.rename(temporary, target)\n    flush_folder(target)\n",
        "        os.rename(temporary, target)\n",
        "a loss of power takes the name of a backup",
        (f"{DURABLE}::test_bytes_of_a_copy_are_on_the_disk_before_its_name_and_then_the_name",),
    ),
    Fault(
        "tacit.ledger.ledger_files",
        "os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))",
        "os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644))",
        "others on the machine read what was asked, and of whom",
        (f"{LEDGER}::test_only_the_owner_reads_it",),
    ),
    Fault(
        "tacit.ledger.ledger_files",
        '{"nfs", "nfs4",',
        '{"nfs",',
        "a ledger is kept where locks lose charges",
        (f"{LEDGER}::test_network_file_systems_are_refused",),
    ),
    Fault(
        "tacit.ledger.sqlite",
        '    "fullfsync = ON",  #',
        "    #",
        "on macOS a charge is in the cache of the drive when rows are read",
        (f"{DURABLE}::test_a_connection_flushes_all_that_it_writes",),
    ),
    Fault(
        "tacit.ledger.sqlite",
        '"synchronous = EXTRA",',
        '"synchronous = NORMAL",',
        "a loss of power takes the newest charges",
        (f"{LEDGER}::test_every_commit_is_flushed",),
    ),
    Fault(
        "tacit.ledger.sqlite",
        '    "cache_spill = OFF",  # the main file changes in a commit, never before it\n',
        "",
        "the main file alone may show half of a transaction",
        (f"{DURABLE}::test_a_connection_flushes_all_that_it_writes",),
    ),
    Fault(
        "tacit.ledger.sqlite",
        "        if self._view.last < written:\n",
        "        if self._view.last < 0:\n",
        "charges that are cut off at the end are not missed",
        (f"{ONE_FILE}::test_rows_at_the_end_that_are_gone_are_missed",),
    ),
    Fault(
        "tacit.ledger.sqlite",
        "        if found != entry:\n",
        "        if found is not None and found.seq != entry.seq:\n",
        "a charge that lies beside the file is taken for one within it",
        (f"{ONE_FILE}::test_no_data_without_the_charge_in_the_file_alone",),
    ),
    Fault(
        "tacit.ledger.sqlite",
        "if self._connection is not None and self._owner != os.getpid():\n            if self._path is None:",
        "if self._connection is not None and self._owner != os.getpid():\n            if self._owner < 0:",
        "a forked child spends from a ledger in memory that its parent does not see",
        (f"{LEDGER}::test_a_child_does_not_spend_from_memory_and_reopens_a_file",),
    ),
    Fault(
        "tacit.ledger.sqlite_layout",
        "BEFORE UPDATE ON tacit_entries\n        BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END",
        "BEFORE UPDATE ON tacit_entries\n        BEGIN SELECT 1; END",
        "an entry can be changed by accident",
        (f"{LEDGER}::test_rows_cannot_be_changed_or_removed",),
    ),
    Fault(
        "tacit.ledger.charge_state",
        "problem.state = CHARGE_STANDS if problem.state == NOTHING_SPENT else problem.state",
        "pass",
        "a full disk between a charge and its answer says that nothing was read or spent",
        (
            f"{FULL_DISK}::test_full_between_charge_and_store",
            f"{FULL_DISK}::test_errors_after_a_charge_say_that_it_stands",
        ),
    ),
    Fault(
        "tacit.ledger.sqlite",
        "with self._translated(UNSURE if tx.appended else None):",
        "with self._translated(None):",
        "a commit that a failing disk may have done says that nothing was spent",
        (f"{FULL_DISK}::test_errors_after_a_charge_say_that_it_stands",),
    ),
)

"""Faults in releases: what is written, and what a reader takes for one."""

from __future__ import annotations

from faults.fault import Fault

MALFORMED = "tests/documents/test_malformed_releases.py"
PACKED = "tests/documents/test_packed.py"
HELD = "tests/ledger/test_held_releases.py"

SHOWN = "tests/cli/test_show_command.py"
TABLES = "tests/tables/test_tables.py"

FAULTS = (
    Fault(
        "tacit.cli.ledger_answers",
        'return f"{release.table}/{release.name}" if shared else release.name',
        "return release.name",
        "of two tables' answers of one name a ledger shows the later",
        (f"{SHOWN}::test_names_of_a_ledger_are_told_apart_by_table_and_charge",),
    ),
    Fault(
        "tacit.cli.ledger_answers",
        "if one.charge == charge.number",
        "if one.charge >= charge.number",
        "a ledger lists later answers under a charge that bought others",
        (f"{SHOWN}::test_names_of_a_ledger_are_told_apart_by_table_and_charge",),
    ),
    Fault(
        "tacit.cli.saving",
        '    if suffix != ".csv" or len(tables) == 1:',
        "    if True:",
        "of several releases one is saved as CSV, and the others are lost",
        (f"{SHOWN}::test_csv_and_pictures_are_one_for_each",),
    ),
    Fault(
        "tacit.base.table",
        'headed += [rf"\\label{{{reference}}}"] if words and reference else []',
        'headed += [rf"\\label{{{reference}}}"] if reference else []',
        "a LaTeX label without a caption refers to the section around it",
        (f"{TABLES}::test_latex_is_centred_with_caption_and_label",),
    ),
    Fault(
        "tacit.release.document",
        '    if SEAL in words and not as_sealed(words):\n        raise changed("this release")\n',
        "",
        "a release that was edited is read as it stands",
        (f"{MALFORMED}::test_what_is_saved_carries_a_digest_that_is_checked",),
    ),
    Fault(
        "tacit.release.document",
        '        if "releases" in words and SEAL not in words:\n',
        '        if "releases" in words and SEAL is None:\n',
        "a file of several that was edited, and lost its digest, is read",
        (f"{MALFORMED}::test_a_file_of_several_without_its_digest_lost_it",),
    ),
    Fault(
        "tacit.release.document",
        "    if version > FORMAT:\n",
        "    if version > FORMAT + 9999:\n",
        "a document of a later version is read by the rules of this one",
        ("tests/curator/test_curator.py::test_damaged_releases_are_refused",),
    ),
    Fault(
        "tacit.release.document",
        "            reason = release_laws.first_inconsistency(cast(Any, made))\n",
        "            reason = None\n",
        "a document whose noise is none that its price buys is a release",
        (f"{MALFORMED}::test_what_no_mechanism_writes_is_refused",),
    ),
    Fault(
        "tacit.release.document",
        '                if "releases" in words and name != one.name:\n',
        '                if "releases" in words and not name:\n',
        "the answer to one question is held against the ledger under the name of another",
        (f"{HELD}::test_a_release_under_another_name_is_refused",),
    ),
    Fault(
        "tacit.release.document",
        '        if self.ordered:\n            words["ordered"]',
        '        if self.ordered and self.axes:\n            words["ordered"]',
        "a release that comes back has lost the order of its levels",
        (f"{MALFORMED}::test_what_comes_back_from_a_file_is_what_was_released",),
    ),
    Fault(
        "tacit.release.digests",
        "return {**words, SEAL: digest_of(words)}",
        'return {**words, SEAL: digest_of({**words, "date": ""})}',
        "what was saved is refused as changed",
        (f"{MALFORMED}::test_what_is_saved_carries_a_digest_that_is_checked",),
    ),
    Fault(
        "tacit.release.digests",
        "{key: value for key, value in words.items() if key != SEAL}",
        '{key: value for key, value in words.items() if key not in (SEAL, "parts")}',
        "an edit of the integers is not found by the digest",
        (f"{MALFORMED}::test_what_is_saved_carries_a_digest_that_is_checked",),
    ),
    Fault(
        "tacit.release.document_checks",
        'if (made.neighbors == "replace-one") != (made.rows is not None):',
        'if made.neighbors == "replace-one" and made.rows is None:',
        "a private number of rows stands in a document",
        (f"{MALFORMED}::test_a_private_number_of_rows_is_in_no_document",),
    ),
    Fault(
        "tacit.release.document_checks",
        "        if total != _amount(made.cost):\n",
        "        if total > _amount(made.cost):\n",
        "a release says that it cost more than its parts did",
        (f"{MALFORMED}::test_prices_that_parts_do_not_add_up_to_are_refused",),
    ),
    Fault(
        "tacit.release.document_checks",
        "return all(width > 0 for width in apart) and isfinite(edges[-1] - edges[0])",
        "return isfinite(edges[-1] - edges[0])",
        "bins whose edges fall are read",
        (f"{MALFORMED}::test_what_no_mechanism_writes_is_refused",),
    ),
    Fault(
        "tacit.release.noise_checks",
        "if wanted is None or wanted.name != law.name or law.scale < wanted.scale:",
        "if wanted is None or wanted.name != law.name:",
        "a release says that its noise is narrower than its price buys: intervals are too narrow",
        (f"{MALFORMED}::test_what_no_mechanism_writes_is_refused",),
    ),
    Fault(
        "tacit.release.noise_checks",
        "return wider or law.scale <= wanted.scale * (1 + room)",
        "return True",
        "a release whose price was raised by hand is read",
        (
            f"{MALFORMED}::test_prices_that_parts_do_not_add_up_to_are_refused",
            f"{MALFORMED}::test_noise_that_is_wider_than_its_price_buys_is_refused",
        ),
    ),
    Fault(
        "tacit.release.sensitivity_checks",
        "return 2 if self.replaces else 1",
        "return 1",
        "releases under replace-one are refused as none",
        (f"{MALFORMED}::test_sensitivities_are_those_of_the_mechanisms",),
    ),
    Fault(
        "tacit.release.noise_checks",
        "return wanted is not None and wanted <= law.scale",
        "return wanted is not None and law.scale",
        "selections at twice their price are read",
        (f"{MALFORMED}::test_selections_are_those_of_the_mechanisms",),
    ),
    Fault(
        "tacit.method.histogram.stored",
        '        yield "its cells are not in order"\n',
        "        return\n",
        "a sparse histogram has a cell twice",
        (f"{MALFORMED}::test_cells_of_a_sparse_histogram_are_in_order",),
    ),
    Fault(
        "tacit.method.histogram.stored",
        "if any(len(cell) != 2 or not 0 <= cell[0] < cells or cell[1] < least for",
        "if any(len(cell) != 2 or not 0 <= cell[0] < cells for",
        "a sparse histogram has a count below its threshold",
        (f"{MALFORMED}::test_cells_of_a_sparse_histogram_are_in_order",),
    ),
    Fault(
        "tacit.release.field_rules",
        "            good = bool(good) and abs(int(value)) > EXACT\n",
        "            good = bool(good)\n",
        "one integer has two spellings in documents",
        (f"{MALFORMED}::test_an_integer_has_one_spelling",),
    ),
    Fault(
        "tacit.release.packing",
        "return value if abs(value) <= 2**53 else str(value)",
        "return value",
        "readers of JSON round integers beyond 2**53",
        (f"{MALFORMED}::test_an_integer_has_one_spelling",),
    ),
    Fault(
        "tacit.release.packing",
        "outside = np.flatnonzero((array < -limit) | (array >= limit))",
        "outside = np.flatnonzero((array < -limit) | (array > limit))",
        "the count 128 is read back as -128",
        (f"{PACKED}::test_every_array_comes_back", f"{PACKED}::test_the_narrowest_integers_that_nearly_all_fit"),
    ),
    Fault(
        "tacit.release.packing",
        'self.array.astype(f"<i{bits // 8}")',
        'self.array.astype(f">i{bits // 8}")',
        "counts are written with their bytes turned around",
        (f"{PACKED}::test_every_array_comes_back",),
    ),
    Fault(
        "tacit.base.json_text",
        "                os.fsync(file.fileno())\n",
        "                file.fileno()\n",
        "a loss of power leaves an empty file under the name of a release",
        ("tests/ledger/test_durable.py::test_a_document_is_on_the_disk_before_it_has_its_name",),
    ),
)

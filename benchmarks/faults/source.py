"""Faults in how cells are read: engines, text, days, NaN, overflow, bins, persons, conditions."""

from __future__ import annotations

from faults.fault import Fault

ENGINES = "tests/source/test_engines.py"
PERSONS = "tests/source/test_persons.py"
DIVISION = "tests/source/test_division.py"
ODD = "tests/source/test_odd_cells.py"
TEXT = "tests/source/test_text_files.py"
PIECES = "tests/source/test_pieces.py"
CONDITIONS = "tests/predicates/test_conditions.py"
COMPUTED = "tests/predicates/test_computed.py"
EXTRA = "tests/mechanisms/test_histogram_extra_cells.py"
ROWMAPS = "tests/schema/test_schema_rowmaps.py"

FAULTS = (
    Fault(
        "tacit.source.cell_expressions",
        '    x = nw.col(column).cast(nw.Float64())\n    known = x.is_finite()\n    if at.kind == "boolean":',
        '    x = nw.col(column).cast(nw.Float64())\n    known = ~x.is_null()\n    if at.kind == "boolean":',
        "an infinite cell is a row at the bound on an engine, and missing in the reference",
        (f"{ENGINES}::test_row_by_row_as_the_reference[real0-pyarrow]",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "return (z + real(0.5)).floor().cast(nw.Int64())",
        "return z.floor().cast(nw.Int64())",
        "values are rounded down, and means are too low",
        (f"{ENGINES}::test_row_by_row_as_the_reference[real0-pyarrow]",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "place = whole(0 if at.missing is None else at.missing)",
        "place = whole(0)",
        "a missing cell stands at the lower bound, whatever the schema declares",
        (f"{ENGINES}::test_groups_of_every_type[pyarrow]",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "return nw.when(nw.col(steps) < whole(0)).then(whole(0)).otherwise(total)",
        "return total",
        "rows without a value are counted, and lower the mean",
        (f"{ENGINES}::test_row_by_row_as_the_reference[real0-pyarrow]",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "exact * real(1 / polynomial.divisor) if power_of_two else divide(exact, real(polynomial.divisor))",
        "exact * real(1 / polynomial.divisor)",
        "second moments differ from engine to engine by one in a thousand rows",
        (f"{DIVISION}::test_polynomials_are_floored_exactly",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "return (known >= real(edges[0])).cast(nw.Float64()) if edges else real(0.0)",
        "return (known > real(edges[0])).cast(nw.Float64()) if edges else real(0.0)",
        "a value on an edge is in the bin below",
        (f"{CONDITIONS}::test_bins_of_numbers_on_every_engine",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "return above - (x < (edge if low == 0.0 else real(low) + edge)).cast(nw.Float64())",
        "return above - (x <= (edge if low == 0.0 else real(low) + edge)).cast(nw.Float64())",
        "a value on an edge of many bins is in the bin below",
        (f"{DIVISION}::test_bins_of_equal_width_are_those_of_their_edges",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "nw.when(known < real(low)).then(below)",
        "nw.when(known <= real(low)).then(below)",
        "a value at its lower bound is counted as below it",
        (f"{EXTRA}::test_every_engine_counts_the_same_extra_cells",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "placed = nw.when(known > real(high)).then(real(2.0)).otherwise(real(3.0)) if",
        "placed = nw.when(known >= real(high)).then(real(2.0)).otherwise(real(3.0)) if",
        "a value at its upper bound is counted as above it",
        ("tests/mechanisms/test_quality.py::test_every_cell_has_one_class",),
    ),
    Fault(
        "tacit.source.cell_expressions",
        "return x / (by + (x - x))",
        "return x / by",
        "Polars divides by a constant as no other engine does",
        (
            f"{DIVISION}::test_polynomials_are_floored_exactly",
            f"{DIVISION}::test_computed_columns_and_conditions_divide_exactly",
        ),
    ),
    Fault(
        "tacit.source.cell_sums",
        "    if bound * MAX_ROWS < 2**63:\n",
        "    if bound < 2**63:\n",
        "sums of large terms wrap around on engines of 64 bits",
        (f"{ENGINES}::test_sums_beyond_64_bits",),
    ),
    Fault(
        "tacit.source.cell_sums",
        "total = total * ex.LIMB + int(group[name] or 0)",
        "total = total + int(group[name] or 0)",
        "sums beyond 64 bits lose their upper part",
        (f"{ENGINES}::test_sums_near_the_edge_of_64_bits",),
    ),
    Fault(
        "tacit.source.cell_sums",
        'cell = [lookup.get(group[f"g{i}"], keys[i].missing) for i, lookup in enumerate(lookups)]',
        'cell = [lookup.get(group[f"g{i}"]) for i, lookup in enumerate(lookups)]',
        "cells that are missing are in no group, although the schema has a level for them",
        (f"{ENGINES}::test_groups_of_every_type[pyarrow]",),
    ),
    Fault(
        "tacit.source.cell_sums",
        'made = [nw.when(nw.col("k") == ex.whole(1)).then(one).otherwise(ex.whole(0)) for one in made]',
        'made = [nw.when(nw.col("k") >= ex.whole(0)).then(one).otherwise(ex.whole(0)) for one in made]',
        "persons without a row that a condition keeps are counted",
        (f"{CONDITIONS}::test_persons_with_a_row_that_counts",),
    ),
    Fault(
        "tacit.source.person_sums",
        "mean = (nw.col(total).cast(nw.Float64()) / n + ex.real(0.5)).floor().cast(nw.Int64())",
        "mean = (nw.col(total).cast(nw.Float64()) / n).floor().cast(nw.Int64())",
        "means of persons are rounded down",
        (f"{PERSONS}::test_persons_as_the_reference[pyarrow]",),
    ),
    Fault(
        "tacit.source.person_sums",
        "most = nw.when(nw.col(total) > ex.whole(cap)).then(ex.whole(cap)).otherwise(nw.col(total)).cast(nw.Float64())",
        "most = nw.col(total).cast(nw.Float64())",
        "a person weighs by all her rows, however many count",
        (f"{PERSONS}::test_persons_as_the_reference[pyarrow]",),
    ),
    Fault(
        "tacit.source.person_sums",
        'over = [nw.col(name).sum().over("u") if cells else nw.col(name) for name in needed]',
        "over = [nw.col(name) for name in needed]",
        "a person weighs one in every group that she is in",
        (f"{PERSONS}::test_shares_of_one_person_never_exceed_the_whole",),
    ),
    Fault(
        "tacit.source.person_sums",
        '    here = here & (nw.col("k") == ex.whole(1)) if kept else here\n',
        "",
        "rows that a condition leaves out are in the means of persons",
        (f"{CONDITIONS}::test_persons_with_a_row_that_counts",),
    ),
    Fault(
        "tacit.source.crossproduct_sums",
        '        if at.missing is None:\n            kept = kept & (nw.col(f"s{i}") >= ex.whole(0))\n',
        '        if at.missing is None and i:\n            kept = kept & (nw.col(f"s{i}") >= ex.whole(0))\n',
        "rows without a response are in a regression, at the lower bound",
        ("tests/mechanisms/test_regression.py::test_every_engine_adds_up_the_same_integers",),
    ),
    Fault(
        "tacit.source.engine_scores",
        "total: Any = ex.whole(2 ** (shift - 1))\n",
        "total: Any = ex.whole(0)\n",
        "predictors are rounded down on engines, and to the nearest in the reference",
        ("tests/mechanisms/test_regression.py::test_every_engine_adds_up_the_same_integers",),
    ),
    Fault(
        "tacit.source.cell_counts",
        "place = place * key.size + at",
        "place = place * key.size + min(at, 1)",
        "the third group of persons is counted with the second",
        ("tests/mechanisms/test_sparse_histogram.py::test_every_engine_finds_the_same_occupied_cells",),
    ),
    Fault(
        "tacit.source.duckdb_cells",
        " - (({count} % {day}) < 0)::BIGINT",
        "",
        "an instant before 1970 is a day late",
        (f"{ODD}::test_an_instant_is_its_day_in_utc",),
    ),
    Fault(
        "tacit.source.duckdb_cells",
        "return listed(cell, one.levels, collated=not own)",
        "return listed(cell, one.levels, collated=False)",
        "a collation of the user's connection merges two levels",
        (f"{ODD}::test_a_collation_of_the_connection_does_not_merge_levels",),
    ),
    Fault(
        "tacit.source.text_files",
        "row.append(cell[1:-1].replace('\"\"', '\"'))",
        "row.append(cell[1:-1])",
        "doubled quotes in a text file are two characters of a level",
        (f"{TEXT}::test_split_undoes_quotes", f"{TEXT}::test_every_line_by_the_declared_rules"),
    ),
    Fault(
        "tacit.source.text_files",
        'return line if len(line.removesuffix(b"\\r")) <= LONGEST else TOO_LONG',
        "return line",
        "one line of a text file takes all memory",
        (f"{TEXT}::test_a_line_that_is_too_long_is_a_row_without_cells",),
    ),
    Fault(
        "tacit.source.text_files",
        "if not names or len(set(names)) < len(names) or not all(names):",
        "if not names or not all(names):",
        "of two columns of one name the first is read",
        (f"{TEXT}::test_a_first_line_that_names_no_columns",),
    ),
    Fault(
        "tacit.source.row_arrays",
        "    at = first - start * CHUNK\n",
        "    at = 0\n",
        "rows of two pieces share their words, and their blocks",
        (f"{PIECES}::test_pieces_are_the_rows_of_one_reading",),
    ),
    Fault(
        "tacit.source.row_arrays",
        "            first += one.rows\n",
        "",
        "every piece of a large table has the words of the first",
        (f"{PIECES}::test_pieces_are_the_rows_of_one_reading",),
    ),
    Fault(
        "tacit.source.schema_check",
        '        return (*always, "text")\n',
        '        return (*always, "text", "number")\n',
        "a column of numbers passes for one of text, and all its cells are missing",
        (f"{ENGINES}::test_names_and_types_are_checked_without_rows",),
    ),
    Fault(
        "tacit.source.arrow_columns",
        "        return np.inf\n",
        "        return 0.0\n",
        "a Python integer beyond all floats is a row at 0",
        (f"{ODD}::test_python_numbers_of_any_size",),
    ),
    Fault(
        "tacit.source.engine_table",
        "    except BaseException:\n        pass\n",
        "    except Exception:\n        pass\n",
        "a panic of Polars reaches the user with what it quotes",
        ("tests/source/test_panics.py::test_a_panic_is_an_error_of_ours",),
    ),
    Fault(
        "tacit.schema.predicates.row_values",
        'return backend.choose(known, _compared(op, a, b), backend.truth(op == "!=")), known',
        "return backend.choose(known, _compared(op, a, b), backend.truth(False)), known",
        "rows without a value are left out by !=, where pandas keeps them",
        (f"{CONDITIONS}::test_the_reference_is_what_pandas_says",),
    ),
    Fault(
        "tacit.schema.predicates.row_values",
        "(known & truth) | (other_known & other) if some else",
        "(known & truth) if some else",
        "a computed answer is unknown although one half of an `or` is true",
        (f"{COMPUTED}::test_what_is_missing_is_unknown_in_a_boolean_column",),
    ),
    Fault(
        "tacit.schema.predicates.arithmetic",
        "choose(month <= real(2.0), real(1.0), real(0.0))",
        "choose(month <= real(1.0), real(1.0), real(0.0))",
        "February is in the year before",
        (f"{COMPUTED}::test_every_day_of_eight_centuries", f"{COMPUTED}::test_values_are_those_of_python"),
    ),
    Fault(
        "tacit.schema.predicates.arithmetic",
        "known, b = known & there, backend.choose(there, b, backend.real(1.0))",
        "b = backend.choose(there, b, backend.real(1.0))",
        "a number divided by 0 is itself",
        (f"{COMPUTED}::test_a_number_divided_by_zero_is_missing",),
    ),
    Fault(
        "tacit.schema.row_maps_of_columns",
        "return span, 16 * max(1, -(-GRID // (16 * span)))",
        "return span, 16 * max(1, GRID // (16 * span))",
        "grids of whole numbers are coarser than the proofs ask for",
        (f"{ROWMAPS}::test_an_integer_column_is_not_rounded", f"{ROWMAPS}::test_the_smallest_multiple_of_sixteen"),
    ),
    Fault(
        "tacit.rows.row_map",
        "return sum(x >= edge for edge in self.edges) if np.isfinite(x) else self.missing",
        "return sum(x >= edge for edge in self.edges) if not np.isnan(x) else self.missing",
        "an infinite cell is in a bin of the reference, and in none on an engine",
        (f"{CONDITIONS}::test_bins_of_numbers_on_every_engine",),
    ),
    Fault(
        "tacit.source.held_rows",
        "w[:, far] = np.trunc(w[:, far] * clip.most / root)",
        "w[:, far] = np.rint(w[:, far] * clip.most / root)",
        "rows that are held are shortened to other integers than rows of engines",
        ("tests/source/test_held_rows.py::test_any_question_has_the_integers_of_the_reference",),
    ),
    Fault(
        "tacit.source.held_rows",
        "piece = np.minimum(place // WIDTH, PIECES - 1).astype(np.intp)",
        "piece = (np.minimum(place, 2 * L - 1) // WIDTH).astype(np.intp) - (place == 2 * L)",
        "scores of predictors at the end of their grid are of another piece",
        ("tests/source/test_held_rows.py::test_predictors_at_the_ends_of_their_grid",),
    ),
    Fault(
        "tacit.source.held_rows",
        "one = one if complete.all() else np.ascontiguousarray(one[:, complete])",
        "one = np.ascontiguousarray(one)",
        "rows that are not complete are held, and count",
        ("tests/source/test_held_rows.py::test_what_is_not_held_is_read_by_each_part",),
    ),
)

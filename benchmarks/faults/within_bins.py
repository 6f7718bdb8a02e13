"""Faults of what counts of bins do not tell: lattices of values, responses in one bin, cells with most rows."""

from faults.fault import Fault

EVIDENCE = "tests/fromcells/test_lattice_evidence.py::test_"
ONE_BIN = "tests/fits/test_one_bin_responses.py::test_"
HIDDEN = "tests/inference/test_what_cells_hide.py::test_"
LATTICES, RESPONSES, SHAPES = (
    "tacit.fits.heaps.lattice_evidence",
    "tacit.fits.one_bin_responses",
    "tacit.fits.within_bins.cell_shapes",
)

FAULTS = (
    Fault(
        LATTICES,
        "made: Array = first + spacing * (np.ceil((bounds - first) / spacing - 1e-9) - 0.5)",
        "made: Array = first + spacing * np.ceil((bounds - first) / spacing - 1e-9)",
        "values are told to the place above them, not to the nearest",
        (f"{EVIDENCE}counts_of_rows_at_places_are_those_of_bins_with_edges_halfway_between",),
    ),
    Fault(
        LATTICES,
        "return np.sqrt(self.odds)[:, None] * np.where(widths > 0, share * off, 0.0)",
        "return np.sqrt(self.odds)[:, None] * np.where(widths > 0, share * off, 0.0) / 10",
        "a tenth of what a lattice moves means by is in their errors",
        (f"{EVIDENCE}a_lattice_is_found_and_its_mean_is_within_what_is_not_known",),
    ),
    Fault(
        LATTICES,
        "return np.where((u > 0) & (u < 1), found, 0.0)",
        "return np.where(u < 0, found, 0.0)",
        "shares below a place within a bin are as those of rows at no place",
        (f"{EVIDENCE}shares_below_a_place_may_be_a_step_off",),
    ),
    Fault(
        RESPONSES,
        "return np.diag(moved**2)",
        "return np.zeros((p, p))",
        "responses with nearly all rows in one bin have the errors of those in many",
        (f"{ONE_BIN}one_wide_bin_hides_a_slope_and_the_error_says_so",),
    ),
    Fault(
        RESPONSES,
        "even = bins_with_rows(margin.counts[: axis.bins] * (axis.within > 0), margin.variance)",
        "even = 1.0",
        "responses in narrow bins have the errors of those in one",
        (f"{ONE_BIN}narrow_bins_hide_nothing",),
    ),
    Fault(
        SHAPES,
        "shares = nearest_with_sum(counts / max(float(counts.sum()), 1.0), 1.0)",
        "shares = np.abs(counts) / np.abs(counts).sum()",
        "noise of cells without rows takes shares from those with many",
        (f"{HIDDEN}shares_of_cells_are_not_moved_to_cells_without_rows",),
    ),
    Fault(
        SHAPES,
        "least = np.where(cell == K - 1, last, e[cell]) * u",
        "least = u",
        "no hill is in the upper part of a cell",
        (f"{HIDDEN}shares_within_a_cell_are_between_those_of_any_hill",),
    ),
    Fault(
        "tacit.method.bernstein.estimate",
        "unknown = np.hypot(unknown, fit.hidden_below(places, over @ fit.values))",
        "unknown = np.hypot(unknown, 0 * fit.hidden_below(places, over @ fit.values))",
        "limits of shares take a polynomial at its word within a cell of most rows",
        (f"{HIDDEN}limits_allow_for_any_shape_where_most_rows_are_in_one_cell_of_a_lattice",),
    ),
    Fault(
        "tacit.method.bernstein.estimate_lattice",
        "high = peaks(found, places, np.diff(self.values)) | (self.full >= cell_shapes.UNTOLD)",
        "high = peaks(found, places, np.diff(self.values))",
        "a density has limits within a cell of most rows, however narrow a hill in it may be",
        (f"{HIDDEN}limits_allow_for_any_shape_where_most_rows_are_in_one_cell_of_a_lattice",),
    ),
)

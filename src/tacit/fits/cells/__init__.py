"""Released cells as data: their counts as arrays, and laws of values over several bins.  Plain arrays."""

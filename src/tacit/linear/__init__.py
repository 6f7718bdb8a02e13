"""Linear models from noisy cross-products: formulas, coordinates, terms of a row.  Shared, no data here.

`formula` reads a formula without running anything; `layout` turns it into integer coordinates of a row and back into
the coefficients of the formula; `rows` says what a row adds; `noisy` puts released integers into matrices; `aim`
chooses from them, as numbers that are public by then, where residuals are cut.
"""

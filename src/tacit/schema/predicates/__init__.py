"""Conditions (`where=`) and computed columns: parsed from text, typed by a schema, evaluated for every row.

`parser` reads text into `syntax`; `typed_conditions`, `numeric_expressions` and `computed_columns` give it the meaning
that the schema's columns have; `row_values` evaluates that by `arithmetic`, in NumPy and on every engine alike.
"""

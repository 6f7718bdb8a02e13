"""The same sums of tables in memory, in NumPy, some thousands of rows at a time.  INSIDE the wall."""

"""Data quality."""

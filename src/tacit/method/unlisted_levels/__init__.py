"""Levels that nobody listed."""

"""Ranges."""

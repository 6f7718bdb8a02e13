"""Tacit: private statistics you can infer from."""

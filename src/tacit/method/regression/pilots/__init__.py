"""Pilot fits: what a released part says of how the next one scores and cuts rows.  No data here."""

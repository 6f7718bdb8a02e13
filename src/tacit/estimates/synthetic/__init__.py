"""Synthetic rows and sets of them: how they are drawn, and what analyses of them say.  Post-processing."""

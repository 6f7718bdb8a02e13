"""Many parties: pure array functions."""

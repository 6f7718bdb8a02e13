"""The curator: checks questions, charges the ledger, reads the table, adds noise.  INSIDE the wall."""

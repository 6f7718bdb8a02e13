"""INSIDE the wall: sources, the ledger, and the door through which releases leave."""

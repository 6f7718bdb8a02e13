"""Raw text files made into typed tables by their curator: `tacit import`.  INSIDE the wall."""

"""Links and bounded scores of the models, and the laws that responses may have.  No data here."""

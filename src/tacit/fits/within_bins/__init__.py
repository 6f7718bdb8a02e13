"""Where in a bin its values are taken to lie, with what error, and what bins leave untold."""

"""Laws of integer noise (`laws`: data-free, usable anywhere) and exact draws from them (`exact`: inside the wall)."""

"""Release documents: noisy integers with the public facts needed to read them, and the checks of a reader."""

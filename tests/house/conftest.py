"""The toy method of `test_new_method` is no package of its own: it is put into a copy of the house."""

collect_ignore_glob = ["halves/*"]

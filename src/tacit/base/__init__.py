"""Tools that every other room uses: strict JSON, tables for display, progress bars, muted warnings, lazy imports."""

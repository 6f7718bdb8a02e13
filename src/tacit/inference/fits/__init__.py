"""M-estimators from the cells of a released histogram (Lei 2011; theory §7).  Post-processing: any number is free."""

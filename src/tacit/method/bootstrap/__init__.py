"""The bootstrap: noisy replicates of an additive statistic, and what they tell."""

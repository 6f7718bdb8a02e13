"""What is asked of estimates: contrasts, tests, ratios, proportions, differences, trends, weights.  Post-processing."""

"""Statistics that several benchmarks share: intervals, correlations, and how firm a number is."""

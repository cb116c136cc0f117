"""VLMBias's numbers: accuracy and rates of outcomes."""

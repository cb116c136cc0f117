"""CDH-Bench: accuracy with a picture that contradicts common sense, and with one that does not."""

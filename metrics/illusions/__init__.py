"""Numbers about answers to illusions, with what misleads and without it."""

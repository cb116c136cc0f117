"""The review page: people decide by keys, and each decision is on disk before the next picture."""

"""Models: what can be asked of them, and how it ends."""

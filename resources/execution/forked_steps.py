"""Preloaded by the process from which a run's steps are forked, which it marks as such."""

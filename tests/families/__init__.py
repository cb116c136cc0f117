"""Families of local judges: a tiny checkpoint of each, used as a real one is."""

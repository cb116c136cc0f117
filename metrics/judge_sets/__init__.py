"""Judges beside people: pairs of responses, and whether these belong to their questions."""

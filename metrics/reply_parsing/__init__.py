"""Parsing of judges' replies: answers, ratings, picks, names and written numbers."""

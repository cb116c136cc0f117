"""Pieces alone: no board."""

TITLE = "pieces without their board"

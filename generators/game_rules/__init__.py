"""Positions of board games, and rules by which they are won: the usual one, and its inverse."""

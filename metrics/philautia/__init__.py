"""Philautia-Eval's numbers: self-preference of judges, and panels of them."""

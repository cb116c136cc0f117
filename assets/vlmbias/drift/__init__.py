"""Drift: a few questions asked again each month, to see whether a judge still answers as before."""

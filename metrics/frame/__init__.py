"""FRAME's numbers: score inflation, pairwise preference and the search for a bias."""

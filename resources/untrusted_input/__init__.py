"""Untrusted input: JSON, images and SVG, checked and decoded within limits."""

"""Drawings, questions, prompts and measurements. Pure: a spec and a seed in, values out."""

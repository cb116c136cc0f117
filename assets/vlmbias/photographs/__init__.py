"""Animals and logos: painted, edited, checked, reviewed by people and published.

Each step is an asset of the benchmark: `subjects`, `paintings`, `edits` and `candidates` ask the
models of models.yaml, for one painter at a time from the second on; `photographs` takes what
people have accepted of all painters, and is to the questions what drawn images are.
"""

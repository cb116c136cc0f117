"""The kinds of perturbation, one per file; `generators.perturbations.registry` finds them."""

"""The kinds of perturbation, one a file; `generators.perturbations.registry` finds them."""

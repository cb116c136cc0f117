"""Adversarial perturbations of pictures, on the encoder of a vision-language model (VHExpansion).

`parameters` says what can be asked for, and of which pictures. `encoders` has what is known of
each architecture, `preparation` its pre-processing with a gradient. `search` finds a change, and
`attack` makes PNGs of changes and checks them. torch is imported by the functions that need it.
"""

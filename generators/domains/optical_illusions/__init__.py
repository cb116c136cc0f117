"""Six optical illusions, each in its classical form and with parts that really differ.

VLMBias, section 4.5 and Appendix H: 66 originals, whose parts are equal though they look
different, and 66 modified ones, whose parts differ. Strength (the trap) and difference (the
truth) are those of Pyllusion (Makowski et al., 2021); the layout is our own.
"""

TITLE = "Optical illusions"
CAPTION = "{subject} illusion"

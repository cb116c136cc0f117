"""National flags with one star or one stripe too many or too few (VLMBias, Appendix E)."""

TITLE = "Flags"
CAPTION = "{subject} flag"

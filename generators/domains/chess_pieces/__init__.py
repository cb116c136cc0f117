"""Starting positions with one piece missing or swapped (VLMBias, Appendix F)."""

TITLE = "Chess pieces"

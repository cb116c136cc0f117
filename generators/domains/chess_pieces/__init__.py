"""Starting positions of chess and xiangqi with one piece missing or swapped (VLMBias, Appendix F)."""

TITLE = "Chess pieces"

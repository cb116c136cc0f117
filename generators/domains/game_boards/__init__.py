"""Game boards that have lost or gained a row or a column (VLMBias, Appendix G)."""

TITLE = "Game boards"

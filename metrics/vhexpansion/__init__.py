"""VHExpansion's numbers: symmetric accuracy and MME's scores."""

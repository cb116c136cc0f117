"""Fine-tuning judges on cases that they hallucinate about (VHExpansion, §5.4)."""

"""Writing prompts by rule."""

"""The call store: every answer that was ever paid for, and who is asking for one now."""

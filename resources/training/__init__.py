"""Training adapters with TRL: its trainers do the work, in a process of their own."""

"""What starts runs by itself. The drawn benchmark starts nothing: its user does."""

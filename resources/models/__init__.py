"""Models: requests, their dispatch and outcomes."""

"""What every benchmark is made of."""

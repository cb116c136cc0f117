"""The parts that every benchmark is made of."""

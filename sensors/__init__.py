"""Sensors that start runs by themselves, once the user has turned them on."""

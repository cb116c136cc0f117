"""Stores of images, tables and work done, and models: everything with an outside."""

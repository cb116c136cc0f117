"""Tests of the task files for other harnesses, run by the harnesses themselves."""

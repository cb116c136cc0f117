"""Settings of a run: its config, its budget, and the drawn images' seed and sizes."""

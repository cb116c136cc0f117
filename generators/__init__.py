"""What is drawn, asked and measured. Pure: a spec and a seed in, values out."""

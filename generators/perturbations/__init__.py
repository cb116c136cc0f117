"""Pictures changed in one known way: an image in, an image out, the same bytes every time."""

"""Numbers of judges that answer by a given rule."""

"""What starts runs by itself, once its user has turned it on."""

"""Speed and memory, measured on what users run; `make bench` prints it."""

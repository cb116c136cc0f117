"""Stars or stripes alone: no field, canton or emblem."""

TITLE = "stars or stripes without the rest of the flag, on the same grey"

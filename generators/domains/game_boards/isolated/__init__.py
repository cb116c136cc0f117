"""Lines alone: no squares' colours, digits, river or marks."""

TITLE = "lines without colours, digits, river and marks"

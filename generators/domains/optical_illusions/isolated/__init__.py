"""The compared parts alone, which are the illusions' controls."""

TITLE = "the two parts that are compared, without what misleads about them"

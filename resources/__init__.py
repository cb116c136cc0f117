"""Everything with an outside: stores of images and tables, work done, judges."""

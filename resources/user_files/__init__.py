"""Reader of the files that users write: tables of any format, row by row, and YAML."""

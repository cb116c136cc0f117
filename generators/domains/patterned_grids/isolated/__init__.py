"""One cell alone: no other cell of the grid."""

TITLE = "the cell in question with its letter and number, without the other cells"

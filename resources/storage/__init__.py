"""Storage below the data root: images, tables, finished work, and what removes them."""

"""Shared parts of every benchmark's report.

A benchmark gathers its tables and writes its pages with the tables, charts and templates from here;
`report_asset` makes of that its asset `report`, publishes the site below `<data root>/report` and
lists it on the start page there. Nothing here knows any benchmark by name.
"""

"""What every benchmark's report is made of: tables, charts, pages and their publication."""

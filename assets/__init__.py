"""Assets that Dagster materializes: thin code that reads, calls, writes and reports."""

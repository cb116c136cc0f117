"""What Dagster materializes: thin assets that read, call, write and report."""

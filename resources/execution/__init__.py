"""Execution of runs: Dagster's executor, worker processes, and the run's own state."""

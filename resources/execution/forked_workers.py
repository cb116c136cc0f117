"""Preloaded by the process from which workers are forked: reads the code before it is imported."""

from resources.execution.worker_tasks import fingerprint_code

fingerprint_code("generators.worker_jobs")

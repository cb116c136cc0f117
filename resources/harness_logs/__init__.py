"""Logs of other harnesses: the raw replies of a finished run, and what the log says of each."""

from resources.harness_logs.log_answer import HarnessLog, LogAnswer
from resources.harness_logs.log_file import read_harness_log

__all__ = ["HarnessLog", "LogAnswer", "read_harness_log"]

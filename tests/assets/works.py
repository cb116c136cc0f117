"""Work of a step without a run: what its checks read."""

from logging import getLogger

from assets.kit.checks import find_problems
from assets.kit.step_run import StepRun


def problems(step, rows, config=None, **tables):
    """What a step's check finds wrong with rows, as (row, problem), its inputs being `tables`."""
    config = step.config(**(config or {}))
    unused = {"home": None, "images": None, "work_cache": None, "find_table": None}
    work = StepRun("", config, tables, step.inputs, log=getLogger(__name__), **unused)
    return list(find_problems(step, work, rows))

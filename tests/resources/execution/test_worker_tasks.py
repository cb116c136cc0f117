"""Workers with other code than the process that they serve refuse its tasks."""

import pytest

from tests.code_trees import copy_code, run_python

EDITED = """
import sys
from pathlib import Path
from resources.execution.code_versions import read_code_versions
read_code_versions()
from generators.sketch import paint_sketch
from resources.execution.worker_tasks import OtherCode
from resources.execution.workers import find_workers
from tests.code_trees import edit
for name in sys.argv[1:]:
    edit(Path(name))
try:
    print(len(find_workers().submit(paint_sketch, "two red kites", "0/0").result()))
except OtherCode as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "is_refused"),
    [(["generators/sketch.py"], True), (["metrics/statistics/firmness.py"], False)],
    ids=["used", "unused"],
)
def test_an_edit_after_a_process_has_loaded_its_code_is_not_worked_with(
    tmp_path, names, is_refused
):
    folder = copy_code(tmp_path)
    script = EDITED.replace("sys.argv[1:]", repr(names))
    ended = run_python(script, folder=folder)
    assert ended.returncode == 0, ended.stderr
    assert (f"in {folder} than this process" in ended.stdout) == is_refused, ended.stdout
    assert ("started with: generators/sketch.py. It" in ended.stdout) == is_refused

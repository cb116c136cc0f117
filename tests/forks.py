"""Programs in processes of their own, forked from one that has imported what they need.

A fresh Python takes 1 to 2 s for that. Where a test proves nothing about a fresh one, its programs
are forked instead: `python -m tests.forks` reads a line of JSON for each, and forks it.
"""

import ctypes
import faulthandler
import importlib
import json
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import types
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).parents[1]
WITHIN_S = 900
"""How long a program may take, on however busy a machine: no test is of its speed."""
WARM = (
    *("definitions", "openai", "tests.runs", "tests.providers", "tests.resources.models.conftest"),
    *("resources.batches", "typer.main", "rich.table", "uvicorn"),
)
_NEW_USERS_AND_MOUNTS = 0x10000000 | 0x00020000


class Program:
    """A program that was started, much as a `subprocess.Popen`; its output is kept in files."""

    def __init__(self, forks, folder, request):
        self._forks, self._folder = forks, folder
        self.returncode = None
        self.pid = forks.ask(request | {"folder": str(folder)})

    def poll(self):
        """The exit status, or None while it runs."""
        if self.returncode is None:
            self.returncode = self._forks.ask({"poll": self.pid})
        return self.returncode

    def wait(self, timeout=WITHIN_S):
        """Wait for its end; returns the exit status."""
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                self.send_signal(signal.SIGKILL)
                raise TimeoutError(f"it has not ended within {timeout} s: {self.stderr}")
            time.sleep(0.01)
        return self.returncode

    def send_signal(self, number):
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout=WITHIN_S):
        """Wait for its end; returns what it wrote to stdout and to stderr."""
        self.wait(timeout)
        return self.stdout, self.stderr

    @property
    def stdout(self):
        """What it has written so far."""
        return (self._folder / "stdout").read_text()

    @property
    def stderr(self):
        """What it has said of errors so far."""
        return (self._folder / "stderr").read_text()


class Forks:
    """The process from which programs are forked, in a `with` block."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="forks-")
        environment = os.environ | {"COUNTERFACTORY_HOME": f"{self._folder.name}/data"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.forks"],
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._process.__enter__()
        return self

    def __exit__(self, *error):
        self._process.__exit__(*error)
        self._folder.cleanup()

    def ask(self, request):
        """Send a request; returns the answer."""
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(self, *arguments, cwd=PROJECT, disk=None, **environment):
        """Start `python *arguments`, with more in its environment, in a process group of its own.

        `disk` is a folder that is a file system of 64 MiB for it, in a namespace of its own.
        """
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        for output in ("stdout", "stderr"):
            (folder / output).touch()
        request = {
            "arguments": [*map(str, arguments)],
            "cwd": str(cwd),
            "disk": disk and str(disk),
            "environment": os.environ | {name: str(of) for name, of in environment.items()},
        }
        return Program(self, folder, request)

    def run(self, *arguments, **options):
        """The same, and wait for its end."""
        program = self.start(*arguments, **options)
        program.wait()
        return program


def forked(work, *arguments, disk, within_s=WITHIN_S):
    """What `work` returns in a process that is forked from this one, with a `disk` as above.

    One that hangs, as locks of libraries may make it, says where, and is ended with all that it has
    forked: raises TimeoutError.
    """
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, fork, initializer=_prepare, initargs=[disk, within_s]) as process:
        group = process.submit(os.getpid).result(WITHIN_S)
        try:
            return process.submit(work, *arguments).result(within_s)
        except TimeoutError:
            os.killpg(group, signal.SIGKILL)
            raise


def _prepare(disk, within_s):
    os.setpgrp()
    mount(disk)
    # Its thread comes last, for a process of several may have no namespace of its own.
    faulthandler.dump_traceback_later(0.9 * within_s, file=2)


def _next_program():
    """Answer requests until one starts a program: returns it, in the process that is to be that."""
    replies = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        if "poll" in request:
            ended, status = os.waitpid(request["poll"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if ended else None
        elif answer := os.fork():
            os.setpgid(answer, answer)
        else:
            return request
        replies.write(f"{json.dumps(answer)}\n")
        replies.flush()
    return None


def _become(request):
    """Take on the surroundings of a program."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(Path(request["folder"], name), os.O_WRONLY), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if request["disk"]:
        mount(request["disk"])
    # What it defines depends on the environment.
    sys.modules.pop("definitions", None)


def mount(disk):
    """Mount a file system of 64 MiB that nobody else sees, as `unshare --map-root-user` does."""
    user, group = os.geteuid(), os.getegid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_USERS_AND_MOUNTS):
        raise OSError(ctypes.get_errno(), "no namespace of its own")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], check=True)


def _execute(first, *arguments):
    """Do what `python first *arguments` does."""
    if first == "-m":
        name, *arguments = arguments
        sys.argv = [name, *arguments]
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    elif first == "-c":
        code, *arguments = arguments
        sys.argv = ["-c", *arguments]
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        exec(compile(code, "<string>", "exec"), vars(main))
    else:
        sys.argv = [first, *arguments]
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    for module in WARM:
        importlib.import_module(module)
    if program := _next_program():
        _become(program)
        _execute(*program["arguments"])

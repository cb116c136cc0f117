"""A provider in a process of its own: for benchmarks, and for tests that kill the client."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class ProviderProcess:
    """A running provider; it keeps no bodies of what it received."""

    url: str
    pid: int

    @property
    def openai_url(self) -> str:
        """The base URL for an OpenAI client."""
        return f"{self.url}/v1"

    @property
    def count(self) -> int:
        """How many requests have come."""
        with urlopen(f"{self.url}/_count") as reply:
            return int(reply.read())

    def received(self) -> dict[str, Any]:
        """The summary of `control.summary`."""
        with urlopen(f"{self.url}/_received") as reply:
            return dict(json.load(reply))

    def plan(self, **plan: Any) -> None:
        """Tell it what to do, as `control.planned` describes."""
        with urlopen(Request(f"{self.url}/_plan", json.dumps(plan).encode())) as reply:
            reply.read()


@contextmanager
def provider_process(
    *, latency_s: float = 0.0, key: str | None = None
) -> Iterator[ProviderProcess]:
    """Start a provider, and end it afterwards."""
    command = [sys.executable, "-m", "tests.providers", "--latency", str(latency_s)]
    process = subprocess.Popen(
        [*command, *(["--key", key] if key else [])], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with process:
        assert process.stdout
        try:
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError(f"No provider has started: {' '.join(command)}")
            yield ProviderProcess(url, process.pid)
        finally:
            process.terminate()

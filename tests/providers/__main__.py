"""`python -m tests.providers --port 0 --latency 0.05`: a provider until it is interrupted.

The first line says its URL. What it offers besides is described in `control`.
"""

import argparse
import signal

from tests.providers.server import Provider


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m tests.providers", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--key", help="the only key that is taken; without it, any or none")
    options = parser.parse_args()
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    with Provider(
        latency_s=options.latency, key=options.key, port=options.port, keep_bodies=False
    ) as provider:
        print(provider.url, flush=True)  # noqa: T201
        signal.sigwait(ends)


main()

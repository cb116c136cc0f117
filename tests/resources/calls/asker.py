"""Three processes that ask for the same keys: `python asker.py URL LOG HOW_MANY`.

Each request that a model would see is a line of LOG, `number process`, before it is answered. Each
process is answered its first ones, and the others once LOG.held is gone. Their ids are told on
stdout, and the answers of each end up in LOG.<id>.
"""

import asyncio
import json
import os
import random
import sys
from contextlib import closing
from pathlib import Path

import resources.calls.write_thread
from resources.calls import CallStore
from tests.resources.calls.calling import call, once

AT_ONCE = 8


async def main(store, log, held, numbers):
    at_once, asked = asyncio.Semaphore(AT_ONCE), []

    async def one(number):
        async def ask():
            asked.append(number)
            first = len(asked) <= AT_ONCE
            os.write(log, f"{number} {os.getpid()}\n".encode())
            async with asyncio.timeout(300):
                while not first and held.exists():
                    await asyncio.sleep(0.01)
            return call(number, text=str(os.getpid()))

        async with at_once:
            return number, (await once(store, call(number).key, ask)).answer["text"]

    return dict(await asyncio.gather(*(one(number) for number in numbers)))


def ask_for_all(url, path, numbers):
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with closing(CallStore(url=url)) as store:
        store._start().writer._owner = str(os.getpid())
        told = asyncio.run(main(store, log, Path(f"{path}.held"), numbers))
    Path(f"{path}.{os.getpid()}").write_text(json.dumps(told))


if __name__ == "__main__":
    url, path, how_many = sys.argv[1:]
    # So long that none loses its claims where the machine is busy.
    resources.calls.write_thread.LEASE_S = 600.0
    children = []
    for place in range(3):
        child = os.fork()
        if not child:
            # Each begins with others, so that none waits for another before all have begun.
            first = [*range(place, int(how_many), 3)][: 2 * AT_ONCE]
            rest = [number for number in range(int(how_many)) if number not in first]
            ask_for_all(url, path, first + random.sample(rest, len(rest)))
            sys.exit()
        children.append(child)
    sys.stdout.write(f"{json.dumps(children)}\n")
    sys.stdout.flush()
    sys.exit(max(os.waitpid(child, 0)[1] for child in children))

"""Three processes that ask for the same keys: `python asker.py URL LOG HOW_MANY SECONDS LEASE_S`.

Each request that a model would see is a line of LOG, `number process`, before it is answered. Their
ids are told on stdout, and the answers of each end up in LOG.<id>.
"""

import asyncio
import json
import os
import random
import sys
from contextlib import closing
from pathlib import Path

import resources.calls.writer
from resources.calls import CallStore
from tests.resources.calls.calling import call, once

AT_ONCE = 8


async def main(store, log, how_many, seconds):
    numbers = list(range(how_many))
    random.shuffle(numbers)
    at_once = asyncio.Semaphore(AT_ONCE)

    async def one(number):
        async def ask():
            os.write(log, f"{number} {os.getpid()}\n".encode())
            await asyncio.sleep(seconds)
            return call(number, text=str(os.getpid()))

        async with at_once:
            return number, (await once(store, call(number).key, ask)).answer["text"]

    return dict(await asyncio.gather(*(one(number) for number in numbers)))


def ask_for_all(url, path, how_many, seconds):
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with closing(CallStore(url=url)) as store:
        told = asyncio.run(main(store, log, how_many, seconds))
    Path(f"{path}.{os.getpid()}").write_text(json.dumps(told))


if __name__ == "__main__":
    url, path, how_many, seconds, lease = sys.argv[1:]
    resources.calls.writer._LEASE_S = float(lease)
    children = []
    for _ in range(3):
        child = os.fork()
        if not child:
            ask_for_all(url, path, int(how_many), float(seconds))
            sys.exit()
        children.append(child)
    sys.stdout.write(f"{json.dumps(children)}\n")
    sys.stdout.flush()
    sys.exit(max(os.waitpid(child, 0)[1] for child in children))

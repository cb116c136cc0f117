"""Sampling concepts, and checking triplets by rule, on one core."""

import json
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from time import perf_counter, process_time
from typing import NamedTuple

from bench.machine import peak_megabytes
from generators.prompts.concepts import DOMAINS, Triplet
from generators.prompts.grammar import fields_of, triplet
from generators.prompts.sampling import sample
from generators.prompts.triplet_check import find_faults
from resources.taxonomy import load, taxonomy_path

FEW, MANY, TRIPLETS = 10_000, 100_000, 20_000


class Sampled(NamedTuple):
    """Seconds for so many concepts, with reading the taxonomy, and their process's peak memory."""

    domain: str
    concepts: int
    seconds: float
    megabytes: float


class Checked(NamedTuple):
    """Triplets that are checked in a second of one core."""

    domain: str
    a_second: float


def sampled(*numbers: int) -> Iterator[Sampled]:
    """Concepts of each domain, each number of them in a process of its own."""
    for domain in DOMAINS:
        for number in numbers or (FEW, MANY):
            command = [sys.executable, "-m", "bench.prompts", domain, str(number)]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            yield Sampled(domain, number, *json.loads(told))


def checked(number: int = TRIPLETS) -> Iterator[Checked]:
    """Triplets of each domain by the grammar, of which none has a fault."""
    taxonomy = load(taxonomy_path())
    for domain in DOMAINS:
        concepts = list(sample(taxonomy, domain, number))
        triplets = [Triplet(**triplet(fields_of(concept))) for concept in concepts]
        started = process_time()
        found = [find_faults(*each) for each in zip(concepts, triplets, strict=True)]
        seconds = process_time() - started
        assert not any(found)
        yield Checked(domain, number / seconds)


def main() -> None:
    """Sample so many concepts of a domain, keep none, and print what it took."""
    domain, number = sys.argv[1], int(sys.argv[2])
    started = perf_counter()
    deque(sample(load(taxonomy_path()), domain, number), maxlen=0)
    sys.stdout.write(json.dumps([perf_counter() - started, peak_megabytes()]))


if __name__ == "__main__":
    main()

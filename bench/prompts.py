"""Concepts sampled, and triplets checked by rule, on one core."""

from collections import deque
from collections.abc import Iterator
from time import perf_counter, process_time

from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from generators.prompts.concepts import DOMAINS, Triplet
from generators.prompts.sampling import sample_concepts
from generators.prompts.triplet_check import find_faults
from generators.prompts.triplet_grammar import build_triplet, to_triplet_fields
from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy


def figures(few: int = 10_000, many: int = 100_000, checked: int = 20_000) -> Iterator[Figure]:
    """Samples of each domain, each in a process of its own, and checks of triplets by grammar."""
    for domain in DOMAINS:
        _, least = in_a_process("bench.prompts", domain, few)
        seconds, peak = in_a_process("bench.prompts", domain, many)
        yield Figure(f"sampling {many:,} concepts of {domain}", seconds, "s", 5)
        note = f"{peak:.0f} MB in all"
        yield Figure(f"its memory above that of {few:,}", peak - least, "MB", 5, note)
        microseconds = 1e6 * _check(domain, checked) / checked
        yield Figure(f"checking a triplet of {domain}", microseconds, "µs of a core", 20)


def _check(domain: str, number: int) -> float:
    """Seconds to check so many triplets by the grammar, of which none has a fault."""
    concepts = list(sample_concepts(load_taxonomy(find_taxonomy_path()), domain, number))
    triplets = [Triplet(**build_triplet(to_triplet_fields(concept))) for concept in concepts]
    started = process_time()
    found = [find_faults(*each) for each in zip(concepts, triplets, strict=True)]
    seconds = process_time() - started
    assert not any(found)
    return seconds


def _sample(domain: str, number: str) -> tuple[float, float]:
    """Seconds for so many concepts, with reading the taxonomy, and this process's peak in MB."""
    started = perf_counter()
    deque(sample_concepts(load_taxonomy(find_taxonomy_path()), domain, int(number)), maxlen=0)
    return perf_counter() - started, peak_megabytes()


if __name__ == "__main__":
    answer(_sample)

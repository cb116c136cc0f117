"""Measure Counterfactory on this machine: drawing, verifying, the demo, peers, asking models.

Takes half an hour or so and 6 GB of a temporary folder; nothing is written outside it. The targets
are for a machine with two cores that does nothing else.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.asking import Cost, middle, peak_megabytes, text_requests
from bench.calls import SIZES, by_stored
from bench.cassette import trips
from bench.demo_runs import DemoFailed, DemoRun, demo_twice
from bench.machine import machine
from bench.memory import Memory
from bench.pace import Pace, by_topic_and_size, whole_benchmark
from bench.pairs import partitions
from bench.peers import peers
from bench.prompts import checked, sampled
from bench.quote import quotes
from bench.scoring import middle as typical
from bench.scoring import scoring
from bench.seeds import by_seed
from bench.sketch import pairs


class Target(NamedTuple):
    """A figure that is to stay at or below a limit."""

    what: str
    limit: float
    measured: float
    unit: str


def main() -> int:
    """Print the machine, then the tables, each as soon as it is measured."""
    arguments = _arguments()
    _say(machine())
    whole = whole_benchmark()
    _paces()
    try:
        first, second = demo_twice()
    except DemoFailed as error:
        sys.stderr.write(f"The demo failed:\n{error}\n")
        return 1
    _demos(first, second)
    _seeds(arguments.seeds)
    _peers()
    asking = _asking()
    peaks = _pictures()
    _lookups(arguments.stored)
    _targets(
        whole,
        first,
        second,
        asking,
        peaks,
        [_sketch(), _scores(), *_cassettes(), *_quotes(arguments.stored), *_prompts()],
    )
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds to compare")
    parser.add_argument(
        "--stored", type=int, default=100_000, help="look up calls among up to so many stored"
    )
    return parser.parse_args()


def _paces() -> None:
    _say("\nImages a second on all cores, in memory, with the workers running")
    _say(f"{'topic':<18} {'px':>5} {'images':>7} {'drawing':>9} {'verifying':>10}")
    for topic, size, pace in by_topic_and_size():
        drawing, verifying = pace.images / pace.drawing, pace.images / pace.verifying
        _say(f"{topic:<18} {size:>5} {pace.images:>7} {drawing:>9.1f} {verifying:>10.1f}")


def _demos(first: DemoRun, second: DemoRun) -> None:
    _say("\nThe demo: all images and originals stored, verified, asked, answered and reported")
    _say("run     seconds  drawing  verifying  drawn      verified  peak memory")
    for name, run in (("first", first), ("second", second)):
        _say(
            f"{name:<6} {run.seconds:>8.1f} {run.drawing:>8.1f} {run.verifying:>10.1f} "
            f"{run.drawn:>6}  {run.verified:>12}  {_in_words(run.peak)}"
        )


def _seeds(seeds: int) -> None:
    _say("\nMilliseconds of one core for an image of 768 px by seed: least, median, most")
    _say(f"{'seed':>4} {'images':>7} {'drawing':>21} {'verifying':>21} {'memory after':>13}")
    for cost in by_seed(seeds):
        drawing, verifying = (
            "".join(f"{value:>7.1f}" for value in spread)
            for spread in (cost.drawing, cost.verifying)
        )
        memory = _megabytes(cost.memory)
        _say(f"{cost.seed:>4} {cost.images:>7} {drawing} {verifying} {memory:>10.0f} MB")


def _peers() -> None:
    _say("\nMilliseconds of one core for a PNG of 768 px, ours and theirs")
    for peer in peers():
        _say(f"{peer.picture:<18} {peer.ours:>7.1f} {peer.theirs:>8.1f}  {peer.package}")


def _asking() -> Cost:
    _say("\nMilliseconds of CPU for a text request, 1,000 at 64 at once, answered after 50 ms")
    _say("round   SDK alone  stored durably  above  all again")
    costs = text_requests()
    for number, cost in enumerate(costs):
        again = f"{cost.again:.2f} s"
        _say(f"{number:<5} {cost.bare:>11.2f} {cost.durable:>15.2f} {cost.above:>6.2f} {again:>10}")
    return middle(costs)


def _pictures() -> tuple[float, float]:
    _say("\nPeak memory of a process that asks about pictures of 1 MB, 64 at once")
    few, many = (peak_megabytes(images) for images in (500, 5000))
    _say(f"500 pictures {few:.0f} MB, 5,000 pictures {many:.0f} MB")
    return few, many


def _lookups(most: int) -> None:
    _say("\nMilliseconds to look up 1,000 calls among those stored")
    with TemporaryDirectory() as folder:
        sizes = [size for size in SIZES if size <= most]
        for lookup in by_stored(f"sqlite:///{folder}/calls.sqlite", sizes):
            _say(f"{lookup.stored:>9,} {lookup.milliseconds:>7.1f}")


def _sketch() -> Target:
    _say("\nPairs a second of the painter `sketch`, 512 px")
    timed = pairs(1000)
    _say(
        f"painted {timed.number / timed.drawn:.0f}, read {timed.number / timed.read:.0f}, "
        f"painted through client and stores {timed.number / timed.asked:.0f}"
    )
    return Target("painting 1,000 pairs with sketch", 10, timed.drawn, "s")


def _cassettes() -> list[Target]:
    _say("\nA cassette of 10,000 calls, with pictures of 1 MB: seconds and peak memory")
    _say("pictures  exported                imported")
    carried = []
    for trip in trips():
        carried.append(trip)
        _say(
            f"{trip.pictures:>8} {trip.exported:>7.1f} s {trip.export_peak:>8.0f} MB "
            f"{trip.imported:>8.1f} s {trip.import_peak:>8.0f} MB"
        )
    few, many = carried
    grown = max(many.export_peak - few.export_peak, many.import_peak - few.import_peak)
    return [
        Target("exporting 10,000 calls with 1,000 pictures", 10, many.exported, "s"),
        Target("importing them", 10, many.imported, "s"),
        Target(
            "memory for each further picture",
            20,
            1000 * grown / (many.pictures - few.pictures),
            "KB",
        ),
    ]


def _quotes(stored: int) -> list[Target]:
    _say(f"\nA quote by the number of requests, half of them answered, of {stored:,} stored calls")
    _say("requests  seconds  peak memory")
    few, many = quotes(stored)
    for each in (few, many):
        _say(f"{each.requests:>8,} {each.seconds:>8.2f} {each.megabytes:>8.0f} MB")
    return [
        Target(f"a quote for {many.requests:,} requests", 5, many.seconds, "s"),
        Target(
            "its memory above that of one for a tenth", 30, many.megabytes - few.megabytes, "MB"
        ),
    ]


def _scores() -> Target:
    _say("\nMilliseconds for a picture's CLIPScore by a ViT-L/14 on all cores, in batches of 4")
    _say("round   forward pass alone  as a metric  above  to open and scale a picture")
    costs = scoring()
    for number, cost in enumerate(costs):
        _say(
            f"{number:<5} {cost.bare:>20.0f} {cost.scored:>12.0f} {cost.above:>4.1f} % "
            f"{cost.prepared:>28.0f}"
        )
    return Target("a metric above its forward pass", 10, typical(costs).above, "%")


def _prompts() -> list[Target]:
    _say("\nConcepts sampled, each number in a process of its own: seconds and peak memory")
    concepts = list(sampled())
    for sample in concepts:
        _say(
            f"{sample.domain:<12} {sample.concepts:>8,} {sample.seconds:>7.2f} s "
            f"{sample.megabytes:>6.0f} MB"
        )
    _say("\nTriplets checked by rule in a second of one core")
    triplets = list(checked())
    for check in triplets:
        _say(f"{check.domain:<12} {check.a_second:>10,.0f}")
    peaks = [(few.megabytes, many.megabytes) for few, many in pairwise(concepts)][::2]
    slowest = min(check.a_second for check in triplets)
    return [
        Target("sampling 100,000 concepts", 5, max(each.seconds for each in concepts), "s"),
        Target("its memory above 10,000's", 5, max(many - few for few, many in peaks), "MB"),
        Target("checking a triplet", 20, 1e6 / slowest, "µs"),
    ]


def _pairs() -> list[Target]:
    _say("\nA partition of image pairs, painted at once by a provider here, and asked for again")
    _say("pairs   painted  peak memory     again  peak memory")
    told = []
    for painted, again in partitions():
        told.append((painted, again))
        _say(
            f"{painted.pairs:>6,} {painted.seconds:>6.1f} s {painted.megabytes:>8.0f} MB "
            f"{again.seconds:>7.1f} s {again.megabytes:>8.0f} MB"
        )
    (few, _), (many, again) = told
    grown = 1000 * (many.megabytes - few.megabytes) / (many.pairs - few.pairs)
    return [
        Target(f"painting {many.pairs:,} pairs", 180, many.seconds, "s"),
        Target("asking for them again", 40, again.seconds, "s"),
        Target("memory for each further pair", 40, grown, "KB"),
    ]


def _targets(
    whole: Pace,
    first: DemoRun,
    second: DemoRun,
    asking: Cost,
    peaks: tuple[float, float],
    carried: Sequence[Target],
) -> None:
    number = whole.images
    _say("\nTargets on two cores that do nothing else")
    for target in (
        Target(f"drawing all {number} images, workers started first", 20, whole.drawing, "s"),
        Target(f"verifying all {number} images", 15, whole.verifying, "s"),
        Target("the demo from nothing", 60, first.seconds, "s"),
        Target("the demo a second time", 15, second.seconds, "s"),
        Target("images drawn the second time", 0, second.drawn, "images"),
        Target("peak memory of the demo's process tree", 900, _megabytes(first.peak), "MB"),
        Target("CPU of a durable request above the SDK alone", 0.5, asking.above, "ms"),
        Target("asking 1,000 answered requests again", 0.3, asking.again, "s"),
        Target(
            "memory for each further picture of 1 MB", 20, 1000 * (peaks[1] - peaks[0]) / 4500, "KB"
        ),
        *carried,
    ):
        held = "held" if target.measured <= target.limit else "MISSED"
        limit = f"at most {target.limit:g} {target.unit}"
        _say(f"{target.what:<46} {limit:>16} {target.measured:>7.2f}  {held}")


def _megabytes(memory: Memory) -> float:
    return (memory.proportional or memory.resident) / 1e6


def _in_words(memory: Memory) -> str:
    processes = f"in {memory.processes} processes"
    resident = f"{memory.resident / 1e6:.0f} MB RSS"
    if not memory.proportional:
        return f"{resident} {processes}, shared pages counted for each"
    return f"{memory.proportional / 1e6:.0f} MB PSS ({resident}) {processes}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

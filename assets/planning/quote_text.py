"""A quote as text: sentences, a table, and notes below it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from dagster import AssetKey

from assets.kit.pictures import prompts_command
from assets.kit.previews import escape_markdown
from assets.planning.lines import Quote, QuoteLine
from assets.planning.prices import Amount, QuotePrice
from assets.planning.quote_selection import Task
from assets.planning.quote_sentences import describe_oversized, describe_total
from resources.calls.spending import NANO, Mode
from resources.models.parameter_checks import find_thinking_budget

_ABOUT = ("asset", "partition", "model")
_Column = tuple[str, Callable[[QuoteLine], str]]


def format_text(quote: Quote, silent: Sequence[AssetKey]) -> str:
    """Format a quote for a terminal: sentences, then aligned columns, numbers to the right."""
    rows = _rows(quote)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place < len(_ABOUT) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    blocks = [list(_iterate_sentences(quote)), lines, list(_iterate_notes(quote, silent))]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def format_markdown(quote: Quote, silent: Sequence[AssetKey]) -> str:
    """Format a quote as Markdown for Dagster's pages."""
    rows = [[escape_markdown(cell) for cell in row] for row in _rows(quote)]
    if rows:
        rows.insert(1, ["---" if head in _ABOUT else "--:" for head in rows[0]])
    blocks = [
        [f"- {escape_markdown(sentence)}" for sentence in _iterate_sentences(quote)],
        [f"| {' | '.join(row)} |" for row in rows],
        [f"- {note}" for note in _iterate_notes(quote, silent)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _iterate_sentences(quote: Quote) -> Iterator[str]:
    """A sentence for each model that is asked, and one for all together."""
    for total in quote.totals:
        yield describe_total(total, total.model.name)
    if len(quote.totals) > 1:
        yield f"In all: {describe_total(sum_totals(quote), 'all models')}"


def _rows(quote: Quote) -> list[list[str]]:
    """The cells, heads first; totals where they say more than the lines."""
    lines = [*quote.lines, *(quote.totals if len(quote.lines) > len(quote.totals) else [])]
    columns = list(_columns(lines))
    heads = [*_ABOUT, *(name for name, _ in columns)]
    cells = [
        [
            line.asset or "all of these",
            line.partition,
            line.model.name,
            *(cell(line) for _, cell in columns),
        ]
        for line in lines
    ]
    if len(quote.totals) > 1:
        total = sum_totals(quote)
        cells.append(["in all", "", "all models", *(cell(total) for _, cell in columns)])
    return [heads, *cells] if cells else []


def sum_totals(quote: Quote) -> QuoteLine:
    """The sum of the totals by model; only in modes that all models have."""
    first, *_ = quote.totals
    modes = set(first.prices).intersection(*(total.prices for total in quote.totals))
    line = QuoteLine("", "", first.model, prices={mode: QuotePrice() for mode in modes})
    for total in quote.totals:
        line.requests += total.requests
        line.stored += total.stored
        line.in_batch += total.in_batch
        line.oversized += total.oversized
        line.unanswerable += total.unanswerable
        line.follow_ups += total.follow_ups
        line.missing_asset = line.missing_asset or total.missing_asset
        for mode, price in line.prices.items():
            price.add(total.prices[mode])
    return line


def _columns(lines: Sequence[QuoteLine]) -> Iterator[_Column]:
    """Columns of numbers with their heads: those that say something here."""
    yield "requests", lambda line: _format_incomplete(line, f"{line.requests:,}")
    yield "stored", lambda line: _format_incomplete(line, f"{line.stored:,}")
    if any(line.in_batch for line in lines):
        yield "waiting", lambda line: _format_incomplete(line, f"{line.in_batch:,}")
    yield "to send", lambda line: _format_incomplete(line, f"{line.to_send:,}")
    if any(line.follow_ups for line in lines):
        yield "later, at most", lambda line: _format_incomplete(line, f"{line.follow_ups:,}")
    yield "expected", lambda line: format_expected_cost(line, "online")
    yield "at most", lambda line: format_max_cost(line, "online")
    if any("batch" in line.prices for line in lines):
        yield "as a batch", lambda line: format_expected_cost(line, "batch")
        yield "as a batch, at most", lambda line: format_max_cost(line, "batch")


def format_expected_cost(line: QuoteLine, mode: Mode) -> str:
    """Format the expected cost of a line's requests, such as $1.20 or unknown."""
    if mode not in line.prices:
        return "no batch price"
    cost = _dollars(line.prices[mode].expected)
    return _format_incomplete(
        line, f"up to {cost}" if line.follow_ups and cost != "unknown" else cost
    )


def format_max_cost(line: QuoteLine, mode: Mode) -> str:
    """The most that it can cost."""
    if mode not in line.prices:
        return "no batch price"
    return _format_incomplete(line, _dollars(line.prices[mode].bound))


def _format_incomplete(line: QuoteLine, cost: str) -> str:
    """A cell of a line, or of a total, of which not all can be counted yet."""
    if line.missing_asset is None or cost == "unknown":
        return cost
    return "unknown" if line.asset else f"{cost} +"


def _describe_samples(quote: Quote) -> Iterator[str]:
    """Describe how small the samples are, and the cost of the same steps of the paper's."""
    if not quote.samples:
        return
    sample_texts = dict.fromkeys(
        f"{sample.partition} ({sample.description})" for sample in quote.samples
    )
    expected, bound = Amount(), Amount()
    for sample in quote.samples:
        expected.add_amount(sample.price.expected, sample.request_count)
        bound.add_amount(sample.price.bound, sample.request_count)
    requests = sum(sample.request_count for sample in quote.samples)
    yield (
        f"A trial sample: {', '.join(sample_texts)}. The same of the paper's sample, up to "
        f"{requests:,} requests: expected {_dollars(expected)}, at most {_dollars(bound)}."
    )


def _dollars(amount: Amount) -> str:
    if amount.unknown:
        return "unknown"
    dollars = amount.nano / NANO
    if 0 < dollars < 0.0001:
        return "below $0.0001"
    return f"${dollars:,.2f}" if dollars == 0 or dollars >= 100 else f"${dollars:,.4f}"


def _describe_picture_prices(total: QuoteLine) -> Iterator[str]:
    """Describe what a model's prices assume, where its answers do not show it."""
    name, price = total.model.name, total.prices["online"]
    if price.is_guess:
        budget = find_thinking_budget(total.model.parameters)
        writes = f"its whole thinking budget of {budget:,} tokens" if budget else "a guess"
        yield (
            f"{name}: expected goes by its provider's rule for pictures and by {writes} for what "
            "it writes, since it has not answered such a request yet: a first few answers show "
            "more."
        )
    if price.picture_nano > price.bound.nano / 2 and not price.bound.unknown:
        yield (
            f"{name}: {price.picture_nano / price.bound.nano:.0%} of at most is for pictures, each "
            f"taken for up to {price.per_picture:,} tokens. If you know that it counts fewer, set "
            "tokens_per_image in models.yaml."
        )


def _iterate_notes(quote: Quote, silent: Sequence[AssetKey]) -> Iterator[str]:
    waited_for = sorted(
        (line.missing_asset, line.asset, line.partition)
        for line in quote.lines
        if line.missing_asset
    )
    for (missing, asset), lines in groupby(waited_for, lambda entry: entry[:2]):
        whose = _format_asset(asset, (partition for *_, partition in lines))
        yield f"Materialize {missing} first, to know what {whose} would ask."
    yield from _describe_samples(quote)
    for whose, why in list_refused(quote.refused_tasks):
        yield f"Not in this quote: {whose}. {why}"
    for total in quote.totals:
        for column, amounts in (
            ("expected", [price.expected for price in total.prices.values()]),
            ("at most", [price.bound for price in total.prices.values()]),
        ):
            for why in sorted(set().union(*(amount.unknown for amount in amounts))):
                yield f"{total.model.name}: {column} is unknown without {why}."
        yield from _describe_picture_prices(total)
    yield from (
        f"{line.model.name}: {line.spared.describe()} "
        f"({_format_asset(line.asset, [line.partition])})."
        for line in quote.lines
        if line.spared.number
    )
    for line in quote.lines:
        if line.unanswerable:
            yield (
                f"{line.model.name}: {line.unanswerable:,} of {line.requests:,} questions have no "
                "imported answer. They count as missing."
            )
        if line.unpainted:
            yield (
                f"{line.model.name}: {line.unpainted:,} of {line.requests:,} pictures are not in "
                f"{line.model.model} and would fail. {prompts_command(line.asset, line.partition)}"
            )
        if line.oversized:
            yield describe_oversized(line, _format_asset(line.asset, [line.partition]))
    yield from quote.warnings
    if any(line.in_batch for line in quote.lines):
        yield "Waiting: in a batch that is not collected, and on its account."
    if any(line.follow_ups for line in quote.lines):
        yield "Later: depends on answers that are not there yet; fewer may be needed, never more."
    if silent:
        yield f"Asks no model: {', '.join(key.to_user_string() for key in silent)}."


def list_refused(refused_tasks: Mapping[str, Sequence[Task]]) -> Iterator[tuple[str, str]]:
    """List the partitions that a quote leaves out, by asset, with the reason."""
    for why, tasks in refused_tasks.items():
        for key, same in groupby(tasks, lambda task: task.asset):
            yield _format_asset(key.to_user_string(), (task.partition for task in same)), why


def _format_asset(asset: str, partitions: Iterable[str]) -> str:
    named = ", ".join(filter(None, partitions))
    return f"{asset} ({named})" if named else asset

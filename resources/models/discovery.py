"""Discovery: providers' model lists, and the models that a pattern matches."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from resources.faults import KeyNotSet
from resources.models import discovered_models
from resources.models.backend_pool import load_api_key
from resources.models.backends import build_backend
from resources.models.catalog import Catalog, CatalogFiles, Model, to_identity
from resources.models.discovered_models import DiscoveredModel
from resources.models.model_lists import ListedModel
from resources.models.patterns import Pattern, build_model_name
from resources.models.replies import RequestFault
from resources.storage.files import update_file

LIST_TIMEOUT_S = 20.0
"""Time allowed for a provider's list: Dagster ends a sensor's tick after a minute."""
MAX_NEW_MODELS = 10
"""New models of one pattern at once, above which it is taken for a mistake."""

MAX_ID_LENGTH = 200
"""Characters of a model's id; the longest of a provider's own are half of it."""
_NAMED, _SHOWN = 3, 80

_Source: TypeAlias = tuple[str, str | None, str | None]
"""A backend, its address and the variable that holds its key: whose list it is."""


class PollResult(NamedTuple):
    """New models, which are kept now, and what the user should know of patterns that got none."""

    new_models: list[DiscoveredModel]
    warnings: list[str]


def poll_providers(files: CatalogFiles) -> PollResult:
    """Match the lists of all providers that patterns are about, and keep what is new.

    A list that cannot be loaded, and a pattern that matches nothing or everything, is reported; the
    other patterns go on, and what was found before stays. Without patterns no list is requested.
    Raises `CatalogError`.
    """
    catalog = files.load()
    lists = asyncio.run(_fetch_lists(catalog.patterns))
    results = []

    def add_new(content: bytes | None) -> bytes | None:
        """Add what is new to the file, as it is after the wait: others may have found something."""
        records = (
            [] if content is None else discovered_models.parse_discovered(files.discovered, content)
        )
        result = _find_new_models(catalog, lists, records)
        results.append(result)
        current = [record.apply_pattern(catalog.patterns) for record in records]
        updated = [*current, *result.new_models]
        return None if updated == records else discovered_models.format_discovered(updated)

    update_file(files.discovered, add_new)
    return results[-1]


def _find_new_models(
    catalog: Catalog,
    lists: Mapping[_Source, Sequence[ListedModel] | str],
    stored: Sequence[DiscoveredModel],
) -> PollResult:
    """Find the models of providers' lists that patterns match and that are not stored."""
    result = PollResult([], [])
    taken_names = {model.name for model in catalog.models} | {
        record.model.name for record in stored
    }
    for pattern in catalog.patterns:
        ids = _match_ids(
            pattern,
            lists[_source(pattern)],
            catalog,
            [*stored, *result.new_models],
            result.warnings,
        )
        for model in ids:
            name = build_model_name(model, taken_names)
            taken_names.add(name)
            today = f"{datetime.now(UTC):%Y-%m-%d}"
            result.new_models.append(
                DiscoveredModel(pattern.build_entry(name, model), pattern.pattern, today)
            )
    return result


def _match_ids(
    pattern: Pattern,
    listed_models: Sequence[ListedModel] | str,
    catalog: Catalog,
    records: Iterable[DiscoveredModel],
    warnings: list[str],
) -> list[str]:
    """Find the new ids that a pattern matches; report its problems."""
    pattern_label = f"the pattern {pattern.pattern} in {catalog.path}"
    if isinstance(listed_models, str):
        warnings.append(f"The list for {pattern_label} could not be loaded: {listed_models}")
        return []
    listed = [model.id for model in listed_models]
    odd = [model for model in listed if not is_model_id(model)]
    if odd:
        named = ", ".join(f"{ascii(model)[:_SHOWN]}" for model in odd[:_NAMED])
        warnings.append(
            f"{len(odd):,} of the models listed for {pattern_label} have unusable ids and were "
            f"skipped: {named}{' …' if len(odd) > _NAMED else ''}. Tell the provider."
        )
    listed = [model for model in listed if is_model_id(model)]
    ids = [model for model in listed if pattern.matches(*pattern.source, model)]
    count = f"{len(listed):,} models that {pattern.source[1] or pattern.source[0]} lists"
    if not ids:
        warnings.append(
            f"Of the {count}, {pattern_label} matches none. Correct it, or wait for one that fits."
        )
        return []
    everybody = (*catalog.models, *(record.model for record in records))
    identities = {to_identity(model) for model in everybody}
    new = [model for model in ids if (*pattern.source, model) not in identities]
    everything = len(ids) == len(listed)
    if new and (len(new) > MAX_NEW_MODELS or (everything and len(ids) > MAX_NEW_MODELS)):
        narrower = pattern.suggest_narrower(ids, MAX_NEW_MODELS)
        warnings.append(
            f"Of the {count}, {pattern_label} matches {len(ids):,}, {len(new):,} of them new: too "
            f"many to be meant, so none was taken. A pattern may find {MAX_NEW_MODELS} models at "
            f"once{', and not all of a longer list' if everything else ''}. Replace it by narrower "
            f"ones{f', as in {narrower}' if narrower else ''}, or give the models that you mean "
            "entries with `name` and `model`."
        )
        return []
    if new and everything and len(ids) > 1:
        warnings.append(
            f"{pattern_label[0].upper()}{pattern_label[1:]} matches all {count}, and takes them: "
            f"{', '.join(ids)}. Make it narrower if some of them paint no pictures."
        )
    return new


def is_model_id(model: object) -> bool:
    """True for text that can be shown whole; U+FFFD stands for undecodable bytes."""
    return (
        isinstance(model, str)
        and 0 < len(model) <= MAX_ID_LENGTH
        and model.isprintable()
        and "\ufffd" not in model
    )


async def _fetch_lists(patterns: Iterable[Pattern]) -> dict[_Source, Sequence[ListedModel] | str]:
    """Fetch each source's models, or the reason why they cannot be had."""
    askers = {_source(pattern): pattern.listing_entry for pattern in patterns}
    lists = await asyncio.gather(*map(fetch_list, askers.values()))
    return dict(zip(askers, lists, strict=True))


async def fetch_list(asker: Model) -> Sequence[ListedModel] | str:
    """Fetch the models that the provider, or the server, of an entry lists; costs nothing.

    Text is the reason why they cannot be had, in the provider's words.
    """
    backend: Any = None
    try:
        backend = build_backend(asker, load_api_key(asker), _refuse_picture)
        async with asyncio.timeout(LIST_TIMEOUT_S):
            models: list[ListedModel] = await backend.list_models()
        return models
    except (KeyNotSet, RequestFault) as problem:
        return str(problem)
    except TimeoutError:
        return f"no answer within {LIST_TIMEOUT_S:.0f} s."
    except Exception as error:  # noqa: BLE001 - a list of one provider never stops the others'
        return f"it cannot be read ({type(error).__name__})."
    finally:
        if backend is not None:
            await backend.aclose()


def _source(pattern: Pattern) -> _Source:
    return (*pattern.source, pattern.listing_entry.key_variable)


def _refuse_picture(sha256: str) -> bytes:
    raise LookupError(f"A list of models needs no picture {sha256}.")

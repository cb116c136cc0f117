"""Drafts of entries of models.yaml for models that a provider or a server lists."""

from collections.abc import Collection
from typing import Any, NamedTuple

import yaml

from resources.models.backend_names import Role
from resources.models.catalog import Model
from resources.models.entry import Price
from resources.models.known_models import KNOWN_MODELS, find_family, find_roles
from resources.models.model_lists import PAINTER_ROLES, READER_ROLES, ListedModel
from resources.models.parameter_checks import LIMIT_PARAMETERS
from resources.models.patterns import build_model_name
from resources.models.pricing import is_near

_LONGEST_ANSWER = {"openai_compatible": 1024}
_LONGEST_HOSTED_ANSWER = 16_000
LIMIT_NAMES = {
    **{backend: names[0] for backend, names in LIMIT_PARAMETERS.items()},
    "openai_compatible": "max_tokens",
}
"""Parameter that limits an answer, by backend: of several the one that most servers take."""
_ANSWERS_PER_WINDOW = 4
_OWN_SERVER = Price(input_per_million=0.0, output_per_million=0.0)


class EntryDraft(NamedTuple):
    """Fields of an entry; roles and price are None where nothing says them."""

    asker: Model
    listed: ListedModel
    roles: tuple[Role, ...] | None
    price: Price | None


def draft_entry(asker: Model, listed: ListedModel) -> EntryDraft:
    """Draft the entry of a model that the provider or server of an entry lists."""
    known_model = KNOWN_MODELS.get(asker.backend, {}).get(listed.id)
    roles = listed.roles if listed.roles is not None else find_roles(asker.backend, listed.id)
    is_own = asker.backend == "openai_compatible" and is_near(asker)
    own_price = _OWN_SERVER if is_own else None
    price = known_model.price if known_model else listed.price or own_price
    return EntryDraft(asker, listed, roles, price)


def format_draft(draft: EntryDraft, taken_names: Collection[str]) -> str:
    """The entry as YAML to paste into models.yaml; comments say what has to be looked up."""
    asker, listed, price = draft.asker, draft.listed, draft.price
    known_model = KNOWN_MODELS.get(asker.backend, {}).get(listed.id)
    longest_output = known_model and known_model.longest_output
    roles = draft.roles or READER_ROLES
    fields: dict[str, Any] = {
        "name": build_model_name(listed.id.rpartition("/")[2].lower(), taken_names),
        "backend": asker.backend,
        "model": listed.id,
        "family": find_family(listed.id),
        **({"base_url": asker.base_url} if asker.base_url else {}),
        **({"key": asker.key} if asker.key else {}),
        "roles": list(roles),
        "parameters": dict(known_model.parameters)
        if known_model
        else _draft_parameters(draft, roles),
        **({"longest_output": longest_output} if longest_output else {}),
        **({"price": price.model_dump(exclude_defaults=True)} if price else {}),
    }
    comments = {
        "roles": "" if draft.roles else "nothing says what it can do: `counterfactory check` tries",
    }
    lines = [_format_field(name, value, comments.get(name, "")) for name, value in fields.items()]
    if price is None:
        lines.append(
            "# price: {input_per_million: USD, output_per_million: USD}  # unknown: budgets need it"
        )
    return "- " + "\n  ".join(lines)


def _draft_parameters(draft: EntryDraft, roles: Collection[Role]) -> dict[str, Any]:
    backend, listed = draft.asker.backend, draft.listed
    if set(roles) <= set(PAINTER_ROLES):
        return {}
    limits = [_LONGEST_ANSWER.get(backend, _LONGEST_HOSTED_ANSWER)]
    limits += [listed.output_tokens] if listed.output_tokens else []
    window = listed.context_tokens
    limits += [max(1, window // _ANSWERS_PER_WINDOW)] if window else []
    return {LIMIT_NAMES[backend]: min(limits)}


def _format_field(name: str, value: Any, comment: str) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1000, sort_keys=False)
    field = f"{name}: {text.strip().removesuffix('...').strip()}"
    return f"{field}  # {comment}" if comment else field

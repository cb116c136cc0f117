"""Names in a run's config: a step's model, looked up in models.yaml, and lists of known names."""

from collections.abc import Collection

from pydantic import AfterValidator, ValidationInfo

from generators.name_suggestions import suggest_names
from resources.models.catalog import Catalog, Model, Role
from resources.storage.work_cache import build_work_key


class NoSuchModel(ValueError):
    """A run names a model that cannot do what it is to do."""


def find_model(catalog: Catalog, name: str, *roles: Role) -> Model:
    """The model of that name, which has to have one of `roles`. Raises `NoSuchModel`."""
    named = [model for model in catalog.models if model.name == name]
    for model in named:
        if set(roles) & set(model.roles):
            return model
    able = [model for model in catalog.models if set(roles) & set(model.roles)]
    role = " or ".join(roles)
    raise NoSuchModel(
        f"{name} is {f'no {role}' if named else 'not'} in {catalog.path}. "
        f"Add {'that to its roles' if named else 'it'} there, or name a model that has the role "
        f"{role}{suggest_names(name, [model.name for model in able])}."
    )


def digest_entry(model: Model) -> str:
    """Digest of what identifies a model's answers beyond the entry's name."""
    return build_work_key(model.backend, model.model, model.parameters)


def validate_names(allowed_names: Collection[str]) -> AfterValidator:
    """Build a validator that restricts a config's list of names to `allowed_names`."""

    def check(names: list[str], field: ValidationInfo) -> list[str]:
        for name in names:
            if name not in allowed_names:
                raise ValueError(
                    f"{field.field_name}: no {name!r}{suggest_names(name, allowed_names)}."
                )
        return names

    return AfterValidator(check)

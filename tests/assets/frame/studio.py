"""FRAME made in tests: its own models, a data root, and its tables."""

import pandas as pd
from dagster import DagsterInstance

from assets.kit.partitions import sources
from resources.models.catalog import Catalog, Model
from tests.runs import failure, materialize, table

WRITTEN = ("concepts", "drafts", "instructions", "perturbed_instructions")


def offline(name, role):
    return Model(name=name, backend="stand_in", model=name, family="stand_in", roles=(role,))


FREE = (
    *(offline(name, "judge") for name in ("gullible", "pixels")),
    offline("grammar", "writer"),
    offline("sketch", "painter"),
)


def at(server, name, role, **entry):
    """An entry of models.yaml for a model of this server."""
    known = {"name": name, "backend": "openai", "model": f"{name}-1", "family": name}
    price = {"input_per_million": 1.0, "output_per_million": 1.0}
    known |= {"roles": (role,), "base_url": server.openai_url, "price": price}
    if role == "painter":
        known |= {"parameters": {"size": "64x64"}, "price": {"per_image": {"64x64": 0.01}}}
    return Model(**known | {"longest_output": 50} | entry)


class Studio:
    """A data root in which FRAME is made of a domain."""

    def __init__(self, root, *models, domain="animals", items=4, reserve=1):
        self.root, self.models, self.domain = root, (*FREE, *models), domain
        self.few = {"concepts": {"items": items, "reserve": reserve}}
        self.instance = DagsterInstance.ephemeral()
        self.catalog = Catalog(self.models)

    def run(self, *names, source=None, **config):
        """Materialize; `config` is that of ops by name."""
        if source:
            self.instance.add_dynamic_partitions(sources.name, [source])
        return materialize(
            self.root,
            *names,
            topic=f"{self.domain}|{source}" if source else self.domain,
            models=self.models,
            group="frame",
            instance=self.instance,
            config={**(self.few if "concepts" in names else {}), **config},
        )

    def must(self, *names, source=None, **config):
        """Materialize what has to succeed."""
        result = self.run(*names, source=source, **config)
        assert result.success, failure(result)
        return result

    def table(self, name, source=None):
        where = f"{name}/{self.domain}" if source else name
        return pd.read_parquet(table(self.root, where, source or self.domain, "frame"))

"""Photographs made in tests: a provider of the test's own suggests, paints, edits and checks."""

import io
import json
from collections import Counter
from hashlib import sha256

import pandas as pd
from PIL import Image

from resources.models.catalog import Model
from tests.providers import pictures
from tests.runs import STAND_INS, checks, failure, materialize

TOPIC = "animals"
LIST = [("ostrich", 2), ("heron", 2), ("dog", 4), ("horse", 4)]
STEPS = ("paintings", "edits", "candidates")


def animals(*pairs):
    """What a writer says that suggests these."""
    return json.dumps({"animals": [{"name": name, "num_legs": legs} for name, legs in pairs]})


class Painting:
    """Answers of a provider: a list of animals, a picture that is new each time, and Yes."""

    def __init__(self):
        self.list, self.said, self.size = LIST, "{Yes}", (64, 64)
        self._seen = Counter()

    def __call__(self, received):
        if received.task == "picture":
            self._seen[received.digest] += 1
            return pictures.png(f"{received.digest} {self._seen[received.digest]}", *self.size)
        return animals(*self.list) if received.schema else self.said


def paint_isolated(received, ground=(255, 255, 255), size=(64, 64), mark=20):
    """A square of the request's own colour on a plain ground."""
    picture = Image.new("RGB", size, ground)
    colour = tuple(level // 2 for level in sha256(received.body).digest()[:3])
    picture.paste(colour, (20, 20, 20 + mark, 20 + mark))
    packed = io.BytesIO()
    picture.save(packed, "PNG")
    return packed.getvalue()


class Isolating(Painting):
    """Answers of a provider that removes backgrounds as well, by `isolate`."""

    isolate = staticmethod(paint_isolated)

    def __call__(self, received):
        if received.task == "picture" and "Remove everything except" in received.texts[0]:
            return self.isolate(received)
        return super().__call__(received)


def painter_at(server, name="artist", **entry):
    """An entry of models.yaml for a model of this server that does all there is to do."""
    known = {"backend": "openai", "model": f"{name}-1", "family": "some"}
    roles = ("writer", "painter", "editor", "captioner")
    known |= {"roles": roles, "parameters": {"size": "64x64"}}
    return Model(name=name, **{**known, "base_url": server.openai_url, **entry})


class Studio:
    """A data root and a Dagster instance in which photographs are made."""

    def __init__(self, root, instance, server):
        self.root, self.instance, self.server = root, instance, server
        self.models = []

    def add(self, model):
        """List a model; a painter gets its partition."""
        self.models.append(model)
        if "painter" in model.roles:
            self.instance.add_dynamic_partitions("painters", [model.name])
        return model

    def run(self, *names, painter=None, topic=TOPIC, **config):
        """Materialize; `config` is that of ops by name."""
        key = f"{painter}|{topic}" if painter else topic
        return materialize(
            self.root,
            *names,
            topic=key,
            models=[*STAND_INS, *self.models],
            config=config,
            instance=self.instance,
            sizes=(64, 96),
        )

    def must(self, *names, **more):
        """Materialize what has to succeed."""
        result = self.run(*names, **more)
        assert result.success, failure(result)
        return result

    def make(self, painter="artist", **config):
        """All steps of one painter up to the photographs; checks of each step."""
        self.must("subjects", subjects={"writer": "artist"})
        result = self.must(*STEPS, painter=painter, **config)
        self.must("photographs")
        return checks(result)

    def table(self, name, painter=None, topic=TOPIC):
        path = self.root / "vlmbias" / name / (painter or "") / f"{topic}.parquet"
        return pd.read_parquet(path)

    def bytes(self, name, painter=None, topic=TOPIC):
        return (self.root / "vlmbias" / name / (painter or "") / f"{topic}.parquet").read_bytes()

    def review(self, *lines, header="image,verdict,reason"):
        """Write the review file."""
        path = self.root / "reviews" / f"{TOPIC}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([header, *lines, ""]))
        return path

    def accept_isolated(self, subject, word="accept"):
        """Decide on all of a subject's pictures without their background."""
        rows = self.table("isolated_edits", "artist")
        digests = rows.loc[rows["subject"].eq(subject), "sha256"]
        path = self.root / "reviews" / f"{TOPIC}-isolated.csv"
        lines = path.read_text() if path.exists() else "image,verdict,reason\n"
        decisions = (f"{digest},{word},\n" for digest in digests)
        path.write_text("".join([lines, *decisions]))

    def sent(self, since=0):
        """How many requests have come since, by what they were for."""
        paths = {"generations": "painted", "edits": "edited"}
        return Counter(
            paths.get(each.path.rpartition("/")[2], "written" if each.schema else "looked")
            for each in self.server.received[since:]
        )

"""The seeds that a release names, and the commands for another one."""

import yaml

from assets.release import ReleaseOptions, write_release
from resources.settings.default_resources import build_default_resources
from tests.assets.release.small import SHAPES, materialize_squares


def test_a_release_names_its_seeds_and_how_to_make_another(sources, tmp_path):
    release = write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions(partitions=["light"]))
    assert release.seeds == [7]
    seed, home, file, run, again = release.fresh_seed_commands
    assert (seed, home) == ("SEED=$RANDOM", "export COUNTERFACTORY_HOME=$PWD/shapes-$SEED-data")
    config = yaml.safe_load(file.partition("\n")[2].removesuffix("END").replace("$SEED", "8"))
    assert config == {"resources": {"design": {"config": {"seed": 8, "sizes": [64]}}}}
    assert run == (
        "counterfactory run 'key:\"shapes/squares\"' --partitions 'light' --config seed.yaml"
    )
    assert again == "counterfactory release shapes --to shapes-$SEED --partitions 'light'"


def test_several_seeds_are_named(sources, tmp_path):
    root = sources.home.root
    materialize_squares(build_default_resources(root), sources.instance, "dark", seed=3)
    assert write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions()).seeds == [3, 7]

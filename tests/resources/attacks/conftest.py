"""Models that tests of attacks share, saved once."""

import pytest

from resources.attacks.attack import EncoderAttack
from tests.resources.attacks.encoders import SAVING, entry


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """By architecture: the folder of a tiny model."""
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in SAVING.items()}


@pytest.fixture(scope="session", params=SAVING)
def architecture(request):
    return request.param


@pytest.fixture(scope="session")
def attackers(folders):
    return {name: EncoderAttack(entry(folder), None) for name, folder in folders.items()}


@pytest.fixture
def attacker(attackers, architecture):
    return attackers[architecture]

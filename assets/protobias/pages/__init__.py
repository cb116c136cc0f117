"""The pages of ProtoBias's report."""

from assets.protobias.pages.build import build
from assets.protobias.pages.painter import Painted

__all__ = ["Painted", "build"]

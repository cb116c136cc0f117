"""The pages of ProtoBias's report."""

from assets.protobias.pages.build import build
from assets.protobias.pages.figures import Painted

__all__ = ["Painted", "build"]

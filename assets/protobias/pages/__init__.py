"""The pages of ProtoBias's report."""

from assets.protobias.pages.figures import Painted
from assets.protobias.pages.report import build

__all__ = ["Painted", "build"]

"""The management API's documents, made from the server's own description."""

from __future__ import annotations

from lakeward.management import models
from lakeward.management.base import Model

__all__ = ["Model", "models"]

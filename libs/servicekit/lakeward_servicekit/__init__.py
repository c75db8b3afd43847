"""What the shell of every Lakeward service needs; no concern's own rules live here."""

import os
from typing import Final

GRPC_ENGINE: Final = "GRPC_EXPERIMENTS"
"""What gRPC's core reads once, when it is imported; so it is said before anything else of the kit is. See ADR 30."""
os.environ.setdefault(GRPC_ENGINE, "-event_engine_client,-event_engine_listener")

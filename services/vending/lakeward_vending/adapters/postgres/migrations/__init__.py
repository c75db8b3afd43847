"""How vending's schema came to be; `lakeward migrate` runs what is in `versions/`."""

from __future__ import annotations

from typing import Final

# The revision below which this release can't work.
NEEDED: Final = 7

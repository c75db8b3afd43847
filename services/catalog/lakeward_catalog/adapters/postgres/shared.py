"""What the tables' definitions and the statements both say.

Apart from `schema`, which loads SQLAlchemy: whoever serves has no use for that, and it takes more than ten megabytes.
"""

from __future__ import annotations

from typing import Final

LOCATION_KEY_INDEXED: Final = 600
"""How many characters of a location key are indexed: a b-tree entry holds 2704 bytes, a location up to 4096."""
FOLDED: Final = "coalesce(location_folded, lower(location_key))"
"""A location key without regard to case. Under the collation "C" `lower` knows ASCII alone; where there is more, we fold it and
store it, since the database knows other rules than we do. A release that stores nothing is right about ASCII."""

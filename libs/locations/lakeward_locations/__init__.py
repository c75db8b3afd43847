"""Object-store locations: what one is, what lies inside another, and where a new tabular goes.

    Location ── a parsed URI: family, host, segments; `key` is its canonical form for comparison
    Layout   ── where namespaces and tabulars lie below a warehouse's base

Pure: no I/O, no dependency. A location that could be read as another place by any store or client is refused when it is
parsed, so nothing behind that line has to think about dot segments, encoded slashes or sibling prefixes.
"""

from lakeward_locations.characters import pattern_mark
from lakeward_locations.layout import Layout, LayoutError, LayoutKind, Named
from lakeward_locations.location import Family, Location, LocationError

__all__ = ["Family", "Layout", "LayoutError", "LayoutKind", "Location", "LocationError", "Named", "pattern_mark"]

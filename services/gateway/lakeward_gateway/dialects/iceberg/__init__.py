"""The Iceberg REST catalog API, as engines speak it."""

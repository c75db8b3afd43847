"""Lakekeeper's generic-table API, below /lakekeeper: tables of formats other than Iceberg's, in the same namespaces."""

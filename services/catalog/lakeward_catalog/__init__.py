"""The catalog service: projects, warehouses, namespaces, tabulars, their metadata and life cycle."""

"""Tables of formats other than Iceberg's: what is recorded of them, and how that changes. Pure."""

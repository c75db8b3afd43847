"""The life cycle of whatever has a name in a namespace, written once; a kind (table, view) is a strategy of it."""

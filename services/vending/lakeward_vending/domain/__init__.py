"""Pure rules of storage: no I/O, no framework, no clock of its own."""

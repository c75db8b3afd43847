"""Who did or tried what: log lines, and rows of the service that decided it."""

"""Who may do what, decided by each engine."""

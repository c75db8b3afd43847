"""Use cases of tables and views with their parts, one module a servicer."""

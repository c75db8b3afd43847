"""Events: changes told to the world, each in its change's transaction, in order, and again on demand."""

"""Use cases of vending, and the ports that they need."""

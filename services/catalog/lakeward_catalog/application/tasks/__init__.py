"""Queued work, for people: seeing it, stopping, cancelling and running it, and how its queues are set."""

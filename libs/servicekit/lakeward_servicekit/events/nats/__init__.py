"""Events on NATS JetStream."""

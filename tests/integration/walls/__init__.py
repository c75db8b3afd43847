"""What a service refuses to its peers."""

"""Services outside that are asked about changes."""

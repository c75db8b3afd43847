"""What is done with Iceberg views' metadata: create, load, commit."""

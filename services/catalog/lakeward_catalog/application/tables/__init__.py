"""What is done with Iceberg tables' metadata: load, create, register, commit, and access to their files."""

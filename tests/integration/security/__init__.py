"""What attacks on a running Lakeward meet."""

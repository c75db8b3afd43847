"""What is done with warehouses: make, read, change, delete, and replace their storage."""

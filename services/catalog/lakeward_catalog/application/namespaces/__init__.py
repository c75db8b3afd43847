"""What is done with namespaces: make, read, list, change their properties, drop."""

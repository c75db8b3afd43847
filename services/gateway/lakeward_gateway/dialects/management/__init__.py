"""The management API: the server, its project and its warehouses."""

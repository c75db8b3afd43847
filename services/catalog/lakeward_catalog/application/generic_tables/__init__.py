"""What is done with generic tables that tables and views have not: their document, their tags and access to their files."""

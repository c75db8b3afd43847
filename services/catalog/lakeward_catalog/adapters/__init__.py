"""One module for each technology that fills a role."""

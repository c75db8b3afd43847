"""Every suite may ask for the real components; each is started when a test first needs it."""

pytest_plugins = ["tests.support.components", "tests.support.lakeward"]

"""Every suite may ask for the real components; each is started when a test first needs it."""

from hypothesis import settings

pytest_plugins = ["tests.support.components", "tests.support.lakeward"]

# How long an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

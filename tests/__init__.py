"""All tests. Folders whose fixtures live as long as the folder's tests are packages, which is what pytest goes by."""

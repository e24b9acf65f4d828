"""The built site in a browser: `make docs` builds it and runs these tests."""

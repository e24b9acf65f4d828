"""The harness that runs real jobs, and the tests."""

"""Tests of the audit of live clusters."""

"""Tests of the agent and the controller of nodehealth, without a cluster."""

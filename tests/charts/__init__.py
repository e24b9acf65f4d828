"""Tests of the charts: valid objects, checked values, the same result with Helm 3 and Helm 4."""

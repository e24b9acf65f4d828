"""RS: accelerators, CPU and huge pages."""

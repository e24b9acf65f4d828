"""GO: policies of the GPU and network operators."""

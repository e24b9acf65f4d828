"""The checks of a node. Each returns the faults that it finds, and changes nothing on the node."""

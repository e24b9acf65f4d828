"""A simulation of a thousand nodes: the real control plane and operators as processes, and nodes and pods of KWOK."""

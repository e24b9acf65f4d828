"""The program of the chart that brings data sets: against servers and folders of this machine, and with kills."""

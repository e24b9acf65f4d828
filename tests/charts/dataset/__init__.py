"""The data set program of the training-job chart, with local servers and folders, and with killed processes."""

"""The files of a release: packages of the charts and of Python, bills of materials, checksums and notes."""

"""Causes by family. Each module holds the causes of one component, `cases/` the logs that they are tested with.

`cases/<cause>[.<topic>].bad.log` is a log with the cause, and `<cause>[.<topic>].good.log` resembles one but has none.
Headers are `# name: value` lines at the top: `source`, `expect` (the reported causes) and `first` (who failed first).
"""

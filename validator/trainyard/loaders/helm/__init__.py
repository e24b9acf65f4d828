"""The loader of Helm charts other than our own: renders a chart and traces each field to its value."""

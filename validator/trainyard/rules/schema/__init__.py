"""SM: fields, types and API versions, by the schemas of Kubernetes and of its operators."""

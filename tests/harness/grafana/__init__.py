"""Grafana's dashboards in a browser, drawn by Grafana's own components from npm. Its server is not needed."""

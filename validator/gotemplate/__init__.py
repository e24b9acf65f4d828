"""Renders Helm charts without Helm: the part of Go's template language that our charts use, with the origin of text.

Sources: Go text/template (parse/lex.go, parse/parse.go, exec.go), Masterminds/sprig v3, helm v3 pkg/engine and
pkg/chartutil. Anything unsupported raises `UnsupportedError`; README.md lists it. Tests compare the rest with Helm.
"""

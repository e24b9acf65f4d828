"""Helm templates read without Helm: the part of Go's template language that our charts use, with origins of the text.

Sources: Go text/template (parse/lex.go, parse/parse.go, exec.go), Masterminds/sprig v3, helm v3 pkg/engine. What is not
here raises `UnsupportedError`, and a property test holds all of it against Helm.
"""

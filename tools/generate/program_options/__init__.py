"""The tables of command-line options of Python programs, by release, from their packages on PyPI.

A table says for each option what it takes: `b` no value, `o` no value with a negative form `--no-x`, `v` a value, `c`
one of the words that follow, `n` one or more values, `?` an optional value and `*` any number of values. Programs
define options by `add_argument` and by fields of dataclasses. Both are read from the syntax tree, so nothing is
executed.
"""

"""The rules: one folder for each family, one file for each rule, its cases beside it."""

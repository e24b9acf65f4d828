"""The words that programs in Go take for a switch.

Source: Go 1.26 strconv.ParseBool.
"""

from __future__ import annotations

TRUE = ("1", "t", "T", "TRUE", "true", "True")
FALSE = ("0", "f", "F", "FALSE", "false", "False")
BOOLEANS = (*TRUE, *FALSE)

"""The words for true and false that programs of Hugging Face read, in any case.

Sources: huggingface/transformers 5.23.0 hf_argparser.py: string_to_bool (arguments); huggingface/huggingface_hub
src/huggingface_hub/constants.py: ENV_VARS_TRUE_VALUES (variables, of which all other words are false);
huggingface/accelerate 1.15.0 utils/environment.py: str_to_bool.
"""

from __future__ import annotations

ARGUMENT_TRUE = ("yes", "true", "t", "y", "1")
ARGUMENT_FALSE = ("no", "false", "f", "n", "0")
VARIABLE_TRUE = ("1", "on", "yes", "true")
VARIABLE_FALSE = ("0", "off", "no", "false", "")
# Accelerate reads these in its file, its options and its variables.
SWITCH_WORDS = ("y", "yes", "t", "true", "on", "1", "n", "no", "f", "false", "off", "0")

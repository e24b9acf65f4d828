"""The addresses of Ray clusters that a container connects to."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.document.document import Place
from trainyard.engine.rule import Context
from trainyard.model.run import Container
from trainyard.startup import pattern

_INIT = pattern(r"\bray\.init\(\s*(?:address\s*=\s*)?[\"']([^\"'{}]+)[\"']")


def ray_addresses(container: Container, context: Context) -> Iterator[tuple[str, Place]]:
    """Yields what `ray --address`, RAY_ADDRESS and a literal in `ray.init` name, with its place."""
    for command in container.commands:
        told = command.option_at("--address")
        if command.program == "ray" and told is not None and {"start", "job"} & set(command.words[1:2]):
            is_plain_job = "job" in command.words[1:2] and "://" not in told[0]
            yield from () if is_plain_job else (told,)
        if command.program.startswith("python") and "-c" in command.words[1:-1]:
            index = command.words.index("-c", 1) + 1
            yield from _of_program(command.words[index], command.word_at[index])
        for word in command.words[1:] if command.program.startswith("python") else ():
            known = mounted_text(word, container, context) if word.endswith(".py") and word.startswith("/") else None
            yield from _of_program(*known) if known is not None else ()
    setting = container.setting("RAY_ADDRESS")
    # The dashboard's port without a scheme also serves `ray job`.
    if setting is not None and setting.value and not ("://" not in setting.value and setting.value.endswith(":8265")):
        yield setting.value, setting.at
    for script in container.scripts:
        yield from _of_program(script.text, script.at)


def _of_program(text: str, at: Place) -> Iterator[tuple[str, Place]]:
    if "ray.init" in text:
        for match in _INIT.finditer(text):
            yield match[1], at.below(text.count("\n", 0, match.start(1)))

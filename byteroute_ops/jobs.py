"""What a worker must know to do ranges of one run, as one JSON-able value."""

from dataclasses import dataclass

import orjson

from .settings import Settings, load_settings


@dataclass(frozen=True)
class Job:
    """One run as its workers see it.

    Attributes:
        settings: all that decides the output; `engine` names the engine that was chosen, never `auto`.
        input_root: what stands before every source name; ends with `/` or is empty.
        output: the output folder, a path or URI.
    """

    settings: Settings
    input_root: str
    output: str

    def to_json(self) -> str:
        """Returns the job as JSON."""
        return orjson.dumps(
            {"settings": self.settings.model_dump(), "input_root": self.input_root, "output": self.output}
        ).decode()

    @staticmethod
    def from_json(text: str) -> "Job":
        """Returns the job that `to_json` wrote."""
        values = orjson.loads(text)
        return Job(settings=load_settings(values["settings"]), input_root=values["input_root"], output=values["output"])

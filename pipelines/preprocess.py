"""A batch run from its settings to its manifest: plan, do the ranges, merge, write the manifest last."""

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from byteroute_ops import __version__, compiled, layout
from byteroute_ops.errors import ConfigError
from byteroute_ops.files import Files, LocalFiles, is_remote
from byteroute_ops.fingerprints import run_fingerprint
from byteroute_ops.formats import Range
from byteroute_ops.jobs import Job
from byteroute_ops.processing import Processor
from byteroute_ops.settings import Settings
from byteroute_ops.tokenization import Prepared
from byteroute_ops.unicode_data import UNICODE_VERSION

from .finalize import finalize
from .plan import Inputs, find_inputs, make_ranges

Runner = Callable[[Job, Sequence[Range]], None]
"""Does ranges. It returns when all of them have their record, or raises."""


@dataclass(frozen=True)
class Plan:
    """A run that has been checked and planned, before any document is read.

    Attributes:
        job: as workers see it.
        inputs: the files.
        ranges: what they are cut into.
        identity: what the manifest says of the run's making.
        prepared: what has been found out about the job's tokenizers, for workers of this machine.
    """

    job: Job
    inputs: Inputs
    ranges: tuple[Range, ...]
    identity: dict[str, Any] = field(repr=False)
    prepared: tuple[Prepared | None, ...] = field(repr=False)

    @property
    def n_bytes(self) -> int:
        """Input bytes of all ranges, as stored."""
        return sum(one.n_bytes for one in self.ranges)


def files_for(name: str) -> Files:
    """Returns what serves a path or URI; Beam is imported for URIs only."""
    if not is_remote(name):
        return LocalFiles()
    from byteroute_ops.beam.files import open_files

    return open_files(name)


def make_plan(
    settings: Settings, patterns: Sequence[str], output: str, *, on_note: Callable[[str], None] = lambda _: None
) -> Plan:
    """Returns the plan of a run.

    Args:
        settings: of the run.
        patterns: files, folders or globs.
        output: the output folder.
        on_note: told what the user should know, such as why a faster engine is not in use.

    Raises:
        ConfigError: inputs, tokenizers or policy that cannot be used.
    """
    if not patterns:
        raise ConfigError("no input: give files, folders or globs")
    inputs = find_inputs(patterns, files_for(patterns[0]))
    ranges = make_ranges(inputs, settings, files_for(patterns[0]))
    output = output if is_remote(output) else os.path.abspath(output)
    root = inputs.root if is_remote(inputs.root) else os.path.join(os.path.abspath(inputs.root or "."), "")
    processor = Processor(settings)
    return Plan(
        job=Job(settings=portable_settings(settings), input_root=root, output=output),
        inputs=inputs,
        ranges=tuple(ranges),
        identity=identify(processor, on_note=on_note),
        prepared=processor.prepared(),
    )


def prepare_output(plan: Plan, *, resume: bool, overwrite: bool) -> list[Range] | None:
    """Makes the output folder ready and returns the ranges that are still to do; None: the output is complete.

    Raises:
        ConfigError: the folder holds something else, another run's output, or an unfinished run and
            neither `resume` nor `overwrite` was asked for.
    """
    output = plan.job.output
    files = files_for(output)
    present = {info.uri.removeprefix(layout.join(output, "")) for info in files.walk(output)}
    if overwrite and not present.isdisjoint({layout.MANIFEST, layout.PLAN}):
        _clear(files, output)
        present = set()
    if layout.MANIFEST in present:
        _same_run(plan, _read_json(files, layout.join(output, layout.MANIFEST)), output, "a finished run")
        # A run that was killed after its last write has left these.
        for name in layout.WORKING:
            files.delete(layout.join(output, name))
        return None
    if layout.PLAN in present:
        _same_run(plan, _read_json(files, layout.join(output, layout.PLAN)), output, "an unfinished run")
        if not resume:
            raise ConfigError(f"{output} holds an unfinished run of this job; use --resume to go on, or --overwrite")
        files.delete(layout.join(output, layout.TEMPORARY))
        return [one for one in plan.ranges if layout.range_record(one.index) not in present]
    if present - {layout.PLAN_DRAFT}:
        # Not even --overwrite deletes what no run of ours is known to have written.
        raise ConfigError(f"{output} is not empty and holds no byteroute run; choose another folder")
    _write_plan(files, output, plan.identity | {"inputs": plan.inputs.to_json()})
    return list(plan.ranges)


def _write_plan(files: Files, output: str, value: dict[str, Any]) -> None:
    draft = layout.join(output, layout.PLAN_DRAFT)
    with files.create(draft) as stream:
        stream.write(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    files.rename(draft, layout.join(output, layout.PLAN))


def _clear(files: Files, output: str) -> None:
    """Deletes an earlier run in an order that may be broken off anywhere: the plan that stands for it goes last."""
    _write_plan(files, output, {"overwritten": True})
    for name in layout.OWNED:
        if name != layout.PLAN:
            files.delete(layout.join(output, name))
    files.delete(layout.join(output, layout.PLAN))


def run_plan(plan: Plan, todo: Sequence[Range], runner: Runner, *, facts: dict[str, Any]) -> dict[str, Any]:
    """Does the ranges, merges their records and returns the manifest.

    Args:
        plan: what to do.
        todo: the ranges without a record.
        runner: does them.
        facts: what `run.json` says of this run beside its times and machine.
    """
    started = time.time()
    if todo:
        runner(plan.job, todo)
    files = files_for(plan.job.output)
    run_facts = {
        **facts,
        "started": started,
        "seconds": time.time() - started,
        "ranges": len(todo),
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "compiled": compiled.is_complete(),
    }
    with files.create(layout.join(plan.job.output, layout.RUN)) as stream:
        stream.write(orjson.dumps(run_facts, option=orjson.OPT_INDENT_2))
    return finalize(plan.job.output, plan.ranges, files, identity=plan.identity, inputs=plan.inputs)


def identify(processor: Processor, *, on_note: Callable[[str], None]) -> dict[str, Any]:
    """Returns what a manifest says of the run's making: version, settings, tokenizers, fingerprint.

    Tokenizers stand there by name and digest, never by path, so that the same run on another machine is the
    same run.
    """
    tokenizers = []
    for name, tokenizer in processor.tokenizers.items():
        if tokenizer.note is not None:
            on_note(tokenizer.note)
        tokenizers.append(
            {
                "name": name,
                "engine": tokenizer.engine,
                "vocab_size": tokenizer.vocab_size,
                "routed_reason": tokenizer.routed_reason,
                **tokenizer.fingerprint(),
            }
        )
    shown = processor.settings.model_dump(mode="json") | {"tokenizers": [one["name"] for one in tokenizers]}
    router = processor.router
    fingerprint = run_fingerprint(
        tokenizers=[tokenizer.fingerprint() for tokenizer in processor.tokenizers.values()],
        policy=router.policy.fingerprint(),
        framing=router.framing,
        profile=router.profile,
        barrier=router.barrier,
        unicode_version=UNICODE_VERSION,
        settings={name: shown[name] for name in ("zwsp", "add_special_tokens", "routed_engine", "ids", "never_worse")},
    )
    return {
        "version": __version__,
        "settings": shown,
        "tokenizers": tokenizers,
        "fingerprint": fingerprint["sha256"],
        "policy": router.policy.fingerprint(),
        "unicode_version": UNICODE_VERSION,
    }


def _same_run(plan: Plan, found: dict[str, Any], output: str, what: str) -> None:
    """Refuses an output folder that another configuration or other input wrote."""
    if found.get("overwritten"):
        raise ConfigError(f"{output} is what an interrupted --overwrite has left; use --overwrite again")
    ours, theirs = plan.identity["settings"], found.get("settings", {})
    different = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    if found.get("version") != plan.identity["version"]:
        different.append(f"byteroute {found.get('version')}, now {plan.identity['version']}")
    if not different and found.get("fingerprint") != plan.identity["fingerprint"]:
        different.append("the content of a tokenizer or policy file")
    # A manifest knows no modification times, since copies of a corpus are the same input.
    known = {key for one in found.get("inputs", []) for key in one}
    if found.get("inputs") != [{key: one[key] for key in known} for one in plan.inputs.to_json()]:
        different.append("input files")
    if different:
        raise ConfigError(
            f"{output} holds {what} of another configuration (different: {', '.join(different)}); "
            "choose another folder, or --overwrite"
        )


def portable_settings(settings: Settings) -> Settings:
    """Returns the settings with paths that hold in any working directory."""
    specs = [os.path.abspath(one) if not is_remote(one) and os.path.exists(one) else one for one in settings.tokenizers]
    return settings.model_copy(update={"tokenizers": tuple(specs)})


def _read_json(files: Files, name: str) -> dict[str, Any]:
    with files.open(name) as stream:
        try:
            value = orjson.loads(stream.read())
        except orjson.JSONDecodeError as error:
            raise ConfigError(f"{name} is damaged ({error.msg}); use --overwrite to start anew") from None
    return dict(value)

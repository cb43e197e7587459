"""Exports of shards to the formats that trainers read; one file a format."""

from byteroute_ops.errors import ConfigError
from byteroute_ops.export.arrow_ipc import ArrowIpc
from byteroute_ops.export.base import Exporter, ExportSettings, Part, TokenBatch, pick_dtype
from byteroute_ops.export.blt import Blt
from byteroute_ops.export.datatrove import Datatrove
from byteroute_ops.export.ids import IdSpace
from byteroute_ops.export.mds import Mds
from byteroute_ops.export.megatron import Megatron
from byteroute_ops.export.olmo import Olmo

EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter for exporter in (Megatron(), Datatrove(), Olmo(), Mds(), ArrowIpc(), Blt())
}

__all__ = ["EXPORTERS", "ExportSettings", "Exporter", "IdSpace", "Part", "TokenBatch", "exporter", "pick_dtype"]


def exporter(name: str) -> Exporter:
    """Returns the exporter of a format.

    Raises:
        ConfigError: no such format; the known ones are listed.

    >>> exporter("megatron").dtypes
    ('uint8', 'uint16', 'int32')
    """
    try:
        return EXPORTERS[name]
    except KeyError:
        raise ConfigError(f"no export format {name!r}; known: {', '.join(EXPORTERS)}") from None

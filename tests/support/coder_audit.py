"""Which collections of a pipeline would travel by pickle: one whose type inference lost, silently."""

from collections.abc import Iterator
from typing import Any

from apache_beam import coders


def pickled_collections(pipeline: Any) -> list[str]:
    """Returns the names of the collections that have a pickling coder anywhere inside their coder."""
    proto, context = pipeline.to_runner_api(return_context=True)

    def leaves(coder_id: str) -> Iterator[Any]:
        parts = proto.components.coders[coder_id].component_coder_ids
        if not parts:
            yield context.coders.get_by_id(coder_id)
        for part in parts:
            yield from leaves(part)

    pickling = (coders.PickleCoder, coders.FastPrimitivesCoder, coders.CloudpickleCoder)
    return sorted(
        one.unique_name
        for one in proto.components.pcollections.values()
        if any(isinstance(coder, pickling) for coder in leaves(one.coder_id))
    )

# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Tokens by stretch of the text, straight from the byte lengths of their ids."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

import numpy as np


def count(
    const int32_t[::1] ids not None,
    const int32_t[::1] lengths not None,
    const int64_t[::1] doc_offsets not None,
    const uint8_t[::1] added not None,
    const int64_t[::1] doc_bounds not None,
    const int64_t[::1] bounds not None,
):
    """How many tokens begin in each stretch of some documents, and which of them end beyond it.

    Args:
        ids: int32[n].
        lengths: int32[n_ids], bytes that each id stands for.
        doc_offsets: int64[n_docs + 1], where the tokens of documents begin.
        added: uint8[n], the tokens that stand for no text.
        doc_bounds: int64[n_docs + 1], where documents begin in bytes.
        bounds: int64[k + 1], where stretches begin; they tile the documents.

    Returns:
        int64[k]; int64[n_docs], added tokens; and of the tokens that end beyond the stretch they begin in, ascending:
        the stretch, the first byte, the byte past the last, int64[m] each. None, where the lengths of a document's tokens
        do not sum to its bytes, an empty one has tokens, or an id has no length.
    """
    cdef int64_t n_docs = doc_offsets.shape[0] - 1, n_stretches = bounds.shape[0] - 1, doc, k, at, end
    cdef int64_t stretch = 0, n_across = 0
    counts_, n_added_ = np.zeros(n_stretches, np.int64), np.zeros(n_docs, np.int64)
    # At most the last token that begins in a stretch ends beyond it.
    across = [np.empty(n_stretches, np.int64) for _ in range(3)]
    cdef int64_t[::1] counts = counts_, n_added = n_added_
    cdef int64_t[::1] home = across[0], start = across[1], past = across[2]
    cdef bint adds_up = True
    with nogil:
        for doc in range(n_docs):
            at = doc_bounds[doc]
            for k in range(doc_offsets[doc], doc_offsets[doc + 1]):
                if added[k]:
                    n_added[doc] += 1
                    continue
                if <uint32_t> ids[k] >= <uint32_t> lengths.shape[0]:
                    adds_up = False
                    break
                end = at + lengths[ids[k]]
                if end > doc_bounds[doc + 1] or at == doc_bounds[doc + 1]:
                    adds_up = False
                    break
                while bounds[stretch + 1] <= at:
                    stretch += 1
                counts[stretch] += 1
                if end > bounds[stretch + 1]:
                    home[n_across], start[n_across], past[n_across] = stretch, at, end
                    n_across += 1
                at = end
            # Documents on which the engine failed have no tokens at all.
            if not adds_up or (at != doc_bounds[doc + 1] and doc_offsets[doc] < doc_offsets[doc + 1]):
                adds_up = False
                break
    if not adds_up:
        return None
    return counts_, n_added_, *(column[:n_across] for column in across)

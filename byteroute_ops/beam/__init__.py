"""Beam at the rim: coders, files and transforms over the kernel. The only folder here that imports Beam."""

"""Beam at the rim. Importing the package registers the coder of batches."""

from .coders import register

register()

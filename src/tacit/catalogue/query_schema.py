"""Queries in the JSON Schema of releases: each class with its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from tacit.catalogue.schema_words import Words, closed, fields_of, listed, ref
from tacit.method.additive.query import MOST as MOST_INTEGERS
from tacit.method.additive.query import Additive
from tacit.method.bernstein.query import MOST_DEGREE, MOST_ORDER
from tacit.method.blocks.query import BIASES
from tacit.method.blocks.query import METHODS as OF_BLOCKS
from tacit.method.blocks.resampling import MOST_RESAMPLES, VARIANCES
from tacit.method.bootstrap.query import MOST as MOST_REPLICATES
from tacit.method.bootstrap.query import STATISTICS
from tacit.method.exponential_mechanism.query import UTILITIES
from tacit.method.histogram.query import Histogram
from tacit.method.ks_dataset.query import MOST_CELLS, MOST_SIZE
from tacit.method.orthogonal_series.query import MOST_TERMS
from tacit.method.quantiles.query import MOST_PROBS
from tacit.method.regression.query import METHODS as OF_REGRESSIONS
from tacit.method.regression.query import MODELS, Regression
from tacit.method.risk_function.query import LOSSES, MOST_BOX
from tacit.method.sufficient_statistics.query import METHODS, SufficientStatistics
from tacit.noise.averaged_laplace import MOST_DRAWS
from tacit.release.query import Query
from tacit.release.query_checks import MOST_THRESHOLD
from tacit.rows.series_bases import BASES
from tacit.schema.autobins import CHOSEN
from tacit.schema.logistic_bins import FEWEST, MOST_BINS


def query(kind: type[Query[Any]]) -> Words:
    """Return the schema of a query: its class and its arguments; those with a default may be missing."""
    names = listed({"type": "string"}, minItems=1, uniqueItems=True)
    edges = listed({"type": "number"}, minItems=1)
    own_bins: list[Words] = [{"enum": list(CHOSEN)}, _logistic()] if kind is Histogram else []
    box = listed({"type": "number"}, minItems=2, maxItems=2)
    words: Mapping[str, Words] = {
        "columns": names,
        "by": names,
        "bins": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"anyOf": [{"type": "integer", "minimum": 2}, edges, *own_bins]},
        },
        "where": {"type": "string"},
        "weights": {"type": "string"},
        "per": {"const": "row"},
        "column": {"type": "string"},
        "probs": listed(ref("fraction"), minItems=1, maxItems=MOST_PROBS, uniqueItems=True),
        "level": {"type": "number", "minimum": 0.5, "maximum": 0.9999},
        "interval": {"const": False},
        "outside": {"const": True} if kind is Histogram else ref("fraction"),
        "missing": {"const": True},
        "what": {"type": "string"} if kind is SufficientStatistics else names,
        "family": ref("model"),
        "bounds": {"type": "object", "minProperties": 1, "additionalProperties": box},
        "parties": {"type": "integer", "minimum": 1},
        "method": {"enum": [*_methods(kind)[1:]]},
        "model": {"enum": [*MODELS]} if kind is Regression else ref("model"),
        "blocks": {"type": "integer", "minimum": 2},
        "rows": {"type": "integer", "minimum": 2},
        "bias": {"enum": [*BIASES]},
        "parameters": names,
        "sparse": {"const": True},
        "one_step": {"const": True},
        "winsorize": {"const": True},
        "variance": {"enum": [*VARIANCES[1:]]},
        "resamples": {"type": "integer", "minimum": 2, "maximum": MOST_RESAMPLES},
        "resample_rows": {"type": "integer", "minimum": 2},
        "threshold": {"type": "integer", "minimum": 1, "maximum": MOST_THRESHOLD},
        "formula": {"type": "string"},
        "statistic": {"type": "string"}
        if kind is Additive
        else {"oneOf": [ref(f"query:{name}") for name in STATISTICS]},
        "expressions": listed({"type": "string"}, minItems=1, maxItems=MOST_INTEGERS, uniqueItems=True),
        "arguments": {"type": "object", "minProperties": 1},
        "l1": ref("positive"),
        "l2_squared": ref("positive"),
        "moments": {"const": False},
        "laplace_draws": {"type": "integer", "minimum": 2, "maximum": MOST_DRAWS},
        "replicates": {"type": "integer", "minimum": 2, "maximum": MOST_REPLICATES},
        "basis": {"enum": [*BASES]},
        "bandwidth": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
        },
        "size": {"type": "integer", "minimum": 1, "maximum": MOST_SIZE},
        "cells": {"type": "integer", "minimum": 2, "maximum": MOST_CELLS},
        "candidates": {
            "type": "object",
            "minProperties": 2,
            "additionalProperties": listed({"type": "integer"}, minItems=2),
        },
        "utility": {"enum": [*UTILITIES[1:]]},
        "sensitivity": {"type": "integer", "minimum": 1},
        "degree": {"type": "integer", "minimum": 2, "maximum": MOST_DEGREE},
        "order": {"type": "integer", "minimum": 1, "maximum": MOST_ORDER},
        "outcome": {"type": "string"},
        "on": listed({"type": "string"}, minItems=1, maxItems=2, uniqueItems=True),
        "loss": {"enum": [*LOSSES]},
        "box": {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_BOX},
        "terms": {"type": "integer", "minimum": 1, "maximum": MOST_TERMS[1]},
    }
    own = {f.name: words[f.name] for f in fields(cast(Any, kind))}
    _, optional = fields_of(kind, words)
    # these have a default in Python but are always written
    written = {"probs", "replicates", "basis", "order", "loss", "box"}
    return closed({"query": {"const": kind.__name__}} | own, optional=tuple(set(optional) - written))


def _methods(kind: type[Query[Any]]) -> tuple[str, ...]:
    """Return the methods of a query, the first of which documents leave out."""
    if kind is Regression:
        return OF_REGRESSIONS
    return METHODS if kind is SufficientStatistics else OF_BLOCKS


def _logistic() -> Words:
    """Return the schema of logistic bins, which cover the whole real line."""
    bins: Words = {"type": "integer", "minimum": FEWEST, "maximum": MOST_BINS}
    scale: Words = {"type": "number", "exclusiveMinimum": 0}
    return closed({"type": {"const": "LogisticBins"}, "bins": bins, "center": {"type": "number"}, "scale": scale})

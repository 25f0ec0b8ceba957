"""Aims of each depth of a call. All numbers are guesses."""

from marchwarden.contract import Depth

# Turns that a depth aims at, at most; `max_iterations` is the hard limit.
TURNS_BY_DEPTH = {Depth.SHALLOW: 2, Depth.BALANCED: 4, Depth.DEEP: 20}
# Tokens that a depth aims at. Beyond them an answer to each aspect is enough.
TOKENS_BY_DEPTH = {Depth.SHALLOW: 5_000, Depth.BALANCED: 15_000, Depth.DEEP: 25_000}
# Independent sources with evidence for an aspect, from which on it is covered.
SOURCES_WANTED = {Depth.SHALLOW: 1, Depth.BALANCED: 2, Depth.DEEP: 3}
PAGES_PER_TURN = {Depth.SHALLOW: 4, Depth.BALANCED: 8, Depth.DEEP: 10}

"""The cross-encoder in JAX: MiniLM-L6 over a question and a passage, trained with the lower layers frozen."""

from __future__ import annotations

import json
import pickle
import random
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

LAYERS, HEADS, WIDTH = 6, 12, 384
# Lower layers that are not trained, beside the embeddings; dropout in the others.
FROZEN, DROPOUT = 2, 0.1
# Passages of a group, groups of a step, and tokens of a pair; shorter pairs are padded to a multiple of 16.
MOST, GROUPS, TOKENS = 12, 4, 160
# Weight of each pair's own loss beside that of the group's order.
PAIR_WEIGHT = 1.0
_MASKED = -1e9
# Pairs that are scored together.
_SCORED = 32

Parameters = Any
Pair = tuple[Sequence[int], Sequence[int]]
"""Tokens of the question and of the passage, with the marks around them."""


@dataclass(frozen=True)
class Group:
    pairs: list[Pair]
    labels: list[int]
    """1 for the passage that answers, at most one; 0 for one that does not."""


def read_weights(model_zip: Path) -> Parameters:
    """Return the weights of all-MiniLM-L6-v2 (from the package of that name) with a new head."""
    with zipfile.ZipFile(model_zip) as archive:
        raw = archive.read("model.safetensors")
    (size,) = struct.unpack("<Q", raw[:8])
    found: dict[str, Any] = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            start, end = (8 + size + at for at in entry["data_offsets"])
            found[name] = np.frombuffer(raw[start:end], np.float32).reshape(entry["shape"])
    embeddings = {name.removeprefix("embeddings."): found[name] for name in found if name.startswith("embeddings.")}
    layers = []
    for number in range(LAYERS):
        start = f"encoder.layer.{number}."
        own = {name.removeprefix(start): found[name] for name in found if name.startswith(start)}
        layers.append({name: value.T if value.ndim == 2 else value for name, value in own.items()})
    chance = np.random.RandomState(0)
    head = {
        "d": (chance.randn(2 * WIDTH, WIDTH) * 0.03).astype(np.float32),
        "db": np.zeros(WIDTH, np.float32),
        "o": (chance.randn(WIDTH, 1) * 0.05).astype(np.float32),
        "ob": np.zeros(1, np.float32),
    }
    return embeddings, layers, head


def _norm(x, weight, bias):  # type: ignore[no-untyped-def]
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * weight + bias


def _layer(x, mask, own, dropout, key):  # type: ignore[no-untyped-def]
    batch, length, width = x.shape

    def linear(x, name):  # type: ignore[no-untyped-def]
        return x @ own[f"{name}.weight"] + own[f"{name}.bias"]

    def dropped(x, key):  # type: ignore[no-untyped-def]
        return x * jax.random.bernoulli(key, 1 - dropout, x.shape) / (1 - dropout) if dropout else x

    split = [
        linear(x, f"attention.self.{name}").reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)
        for name in ("query", "key", "value")
    ]
    scores = split[0] @ split[1].transpose(0, 1, 3, 2) / np.sqrt(width / HEADS) + mask[:, None, None, :]
    heard = (jax.nn.softmax(scores, -1) @ split[2]).transpose(0, 2, 1, 3).reshape(batch, length, width)
    first, second = jax.random.split(key)
    x = x + dropped(linear(heard, "attention.output.dense"), first)
    x = _norm(x, own["attention.output.LayerNorm.weight"], own["attention.output.LayerNorm.bias"])
    inner = jax.nn.gelu(linear(x, "intermediate.dense"), approximate=False)
    x = x + dropped(linear(inner, "output.dense"), second)
    return _norm(x, own["output.LayerNorm.weight"], own["output.LayerNorm.bias"])


def _forward(frozen, trained, batch, dropout, key):  # type: ignore[no-untyped-def]
    (embeddings, lower), (upper, head) = frozen, trained
    ids, types, mask = batch
    x = embeddings["word_embeddings.weight"][ids] + embeddings["token_type_embeddings.weight"][types]
    x = x + embeddings["position_embeddings.weight"][: ids.shape[1]][None]
    x = _norm(x, embeddings["LayerNorm.weight"], embeddings["LayerNorm.bias"])
    hidden = (1.0 - mask) * _MASKED
    for own in lower:
        x = _layer(x, hidden, own, 0.0, key)
    x = jax.lax.stop_gradient(x)
    for own, part in zip(upper, jax.random.split(key, max(1, len(upper))), strict=False):
        x = _layer(x, hidden, own, dropout, part)
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    read = jnp.tanh(jnp.concatenate([x[:, 0], mean], -1) @ head["d"] + head["db"])
    return (read @ head["o"] + head["ob"])[:, 0]


def _batch(pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    length = min(TOKENS, -(-max(len(first) + len(second) for first, second in pairs) // 16) * 16)
    ids = np.zeros((len(pairs), length), np.int32)
    types, mask = np.zeros_like(ids), np.zeros(ids.shape, np.float32)
    for row, (first, second) in enumerate(pairs):
        both = [*first, *second][:length]
        ids[row, : len(both)], types[row, len(first) : len(both)], mask[row, : len(both)] = both, 1, 1
    return ids, types, mask


def train(weights: Parameters, groups: Sequence[Group], *, rate: float, seed: int, keep: Path) -> Parameters:
    """Train on each group once; the loss is the order of each group's passages and each pair's own answer.

    The learning rate rises over a tenth of the steps and falls as a cosine. Takes some two seconds a step on two
    cores.
    """
    embeddings, layers, head = jax.tree.map(jnp.asarray, weights)
    frozen, trained = (embeddings, layers[:FROZEN]), (layers[FROZEN:], head)
    steps = len(groups) // GROUPS
    schedule = optax.warmup_cosine_decay_schedule(0, rate, steps // 10, steps, rate * 0.05)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01))
    state, key, order = optimizer.init(trained), jax.random.PRNGKey(seed), random.Random(seed)

    def loss(trained, batch, labels, key):  # type: ignore[no-untyped-def]
        odds = _forward(frozen, trained, batch, DROPOUT, key).reshape(labels.shape)
        counted, right = labels >= 0, labels > 0
        best = jax.nn.logsumexp(jnp.where(counted, odds, _MASKED), 1)
        order = jnp.where(right.any(1), best - jax.nn.logsumexp(jnp.where(right, odds, _MASKED), 1), 0.0)
        single = optax.sigmoid_binary_cross_entropy(odds, jnp.clip(labels, 0, 1))
        return order.mean() + PAIR_WEIGHT * jnp.where(counted, single, 0.0).sum() / counted.sum()

    @jax.jit
    def step(trained, state, batch, labels, key):  # type: ignore[no-untyped-def]
        lost, slope = jax.value_and_grad(loss)(trained, batch, labels, key)
        change, state = optimizer.update(slope, state, trained)
        return optax.apply_updates(trained, change), state, lost

    size = max(len(group.pairs) for group in groups)
    longest = [max(len(first) + len(second) for first, second in group.pairs) for group in groups]
    shuffled = order.sample(range(len(groups)), len(groups))
    blocks = [
        sorted(shuffled[at : at + 25 * GROUPS], key=longest.__getitem__) for at in range(0, steps * GROUPS, 100)
    ]
    batches = [block[at : at + GROUPS] for block in blocks for at in range(0, len(block), GROUPS)]
    order.shuffle(batches)
    for number, chosen in enumerate(batches, start=1):
        own = [groups[each] for each in chosen]
        if len(own) < GROUPS:
            continue
        # Groups are filled up to one size with pairs that don't count.
        filled = [(group.pairs + [group.pairs[-1]] * size)[:size] for group in own]
        labels = [(group.labels + [-1] * size)[:size] for group in own]
        key, part = jax.random.split(key)
        batch = _batch([pair for pairs in filled for pair in pairs])
        trained, state, lost = step(trained, state, batch, np.array(labels, np.float32), part)
        if number % 100 == 0:
            print(f"step {number} of {len(batches)}: loss {float(lost):.3f}", flush=True)
    found = jax.tree.map(np.asarray, (embeddings, [*frozen[1], *trained[0]], trained[1]))
    keep.write_bytes(pickle.dumps(found))
    return found


def score(weights: Parameters, pairs: Sequence[Pair]) -> np.ndarray:
    """Return the log-odds of each pair that the passage answers."""
    embeddings, layers, head = jax.tree.map(jnp.asarray, weights)
    read = jax.jit(lambda batch: _forward((embeddings, layers), ([], head), batch, 0.0, jax.random.PRNGKey(0)))
    found = np.zeros(len(pairs), np.float32)
    by_length = sorted(range(len(pairs)), key=lambda place: sum(map(len, pairs[place])))
    for at in range(0, len(pairs), _SCORED):
        own = by_length[at : at + _SCORED]
        filled = (own + own[-1:] * _SCORED)[:_SCORED]  # one size, so that it is compiled once a length
        found[own] = np.asarray(read(_batch([pairs[place] for place in filled])))[: len(own)]
    return found

"""Writes the trained encoder as marchwarden/judge/answering.onnx: weights in 8 bits.

Weights are rounded by column (of word vectors: by word) to 255 steps. The vocabulary stands in the file's metadata.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from encoder import HEADS, TOKENS, WIDTH
from onnx import TensorProto, helper, numpy_helper

# ONNX operators and file format that runtimes since 2024 read.
_OPERATORS, _FORMAT = 20, 9
# Tensors of fewer numbers stay as they are.
_LARGE = 50_000


class _Graph:
    """ONNX graph in the making."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype=kind, order="C"), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def matrix(self, value: Any) -> str:
        """Return a matrix that is kept in 8 bits, if it is large."""
        if value.size < _LARGE:
            return self.constant(value)
        scale = np.abs(value).max(0) / 127 + 1e-12
        rounded = self.constant(np.round(value / scale), np.int8)
        return self.add("DequantizeLinear", rounded, self.constant(scale), axis=1)

    def rows(self, value: Any, chosen: str) -> str:
        """Return the chosen rows of a matrix that is kept in 8 bits."""
        scale = np.abs(value).max(1) / 127 + 1e-12
        rounded = self.add("Gather", self.constant(np.round(value / scale[:, None]), np.int8), chosen)
        scales = self.add("Gather", self.constant(scale), chosen)
        wide = self.add("Unsqueeze", scales, self.constant([-1], np.int64))
        return self.add("Mul", self.add("Cast", rounded, to=TensorProto.FLOAT), wide)


def write(weights: Any, vocabulary: list[str], file: Path) -> None:
    """Write the model: `ids` and `types` of one pair to the log-odds `odds` that the passage answers."""
    embeddings, layers, head = weights
    graph = _Graph()
    add, constant = graph.add, graph.constant

    def norm(x: str, own: dict[str, Any], name: str) -> str:
        named = (constant(own[f"{name}.weight"]), constant(own[f"{name}.bias"]))
        return add("LayerNormalization", x, *named, axis=-1, epsilon=1e-12)

    def linear(x: str, own: dict[str, Any], name: str) -> str:
        return add("Add", add("MatMul", x, graph.matrix(own[f"{name}.weight"])), constant(own[f"{name}.bias"]))

    zero, one, two = (constant(value, np.int64) for value in (0, [1], [2]))
    length = add("Squeeze", add("Slice", add("Shape", "ids"), one, two))
    places = add("Range", zero, length, constant(1, np.int64))
    x = graph.rows(embeddings["word_embeddings.weight"], "ids")
    x = add("Add", x, add("Gather", constant(embeddings["token_type_embeddings.weight"]), "types"))
    x = add("Add", x, add("Gather", constant(embeddings["position_embeddings.weight"][:TOKENS]), places))
    x = norm(x, embeddings, "LayerNorm")
    split, joined = constant([0, 0, HEADS, WIDTH // HEADS], np.int64), constant([0, 0, WIDTH], np.int64)
    for own in layers:
        query, key, value = (
            add("Transpose", add("Reshape", linear(x, own, f"attention.self.{name}"), split), perm=turned)
            for name, turned in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        scores = add("Mul", add("MatMul", query, key), constant((WIDTH / HEADS) ** -0.5))
        heard = add("Transpose", add("MatMul", add("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3])
        x = add("Add", x, linear(add("Reshape", heard, joined), own, "attention.output.dense"))
        x = norm(x, own, "attention.output.LayerNorm")
        inner = add("Gelu", linear(x, own, "intermediate.dense"))
        x = norm(add("Add", x, linear(inner, own, "output.dense")), own, "output.LayerNorm")
    both = add("Concat", add("Gather", x, zero, axis=1), add("ReduceMean", x, one, keepdims=0), axis=1)
    read = add("Tanh", add("Add", add("MatMul", both, graph.matrix(head["d"])), constant(head["db"])))
    last = add("MatMul", read, constant(head["o"]))
    graph.nodes.append(helper.make_node("Add", [last, constant(head["ob"])], ["odds"]))
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "n"]) for name in ("ids", "types")]
    told = [helper.make_tensor_value_info("odds", TensorProto.FLOAT, [1, 1])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "answering", given, told, graph.constants),
        opset_imports=[helper.make_opsetid("", _OPERATORS)],
        ir_version=_FORMAT,
    )
    helper.set_model_props(model, {"vocabulary": "\n".join(vocabulary)})
    onnx.checker.check_model(model)
    onnx.save(model, file)

#!/usr/bin/python3
"""Writes tiny models of the layouts that sherpa-onnx expects into a folder: make_speech_models.py FOLDER.

vad.onnx          layout of Silero's voice activity detector, version 5: speech is what is loud, and an
                  LSTM carries the state
punctuation.onnx  layout of a CT-transformer with its metadata: each word has one mark that follows it
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN = 128
MARKS = ["<unk>", "_", "，", "。", "？", "、"]
WORDS = {"<unk>": "_", "hello": "，", "how": "_", "are": "_", "you": "？", "fine": "，", "thanks": "。"}


def tensor(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def save(folder, name, nodes, inputs, outputs, constants, **metadata):
    constants = [numpy_helper.from_array(value, key) for key, value in constants.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / f"{name}.onnx"))


def vad(folder):
    random = np.random.default_rng(5)
    weights = {"w": random.normal(0, 0.1, (1, 4 * HIDDEN, 1)), "r": random.normal(0, 0.1, (1, 4 * HIDDEN, HIDDEN))}
    nodes = [
        helper.make_node("Abs", ["input"], ["loudness"]),
        helper.make_node("ReduceMean", ["loudness"], ["mean"], axes=[1], keepdims=1),
        helper.make_node("Sub", ["mean", "limit"], ["above"]),
        helper.make_node("Mul", ["above", "slope"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["output"]),
        helper.make_node("Unsqueeze", ["mean", "first"], ["step"]),
        helper.make_node("Split", ["state"], ["h", "c"], axis=0),
        helper.make_node("LSTM", ["step", "w", "r", "", "", "h", "c"], ["", "h_next", "c_next"], hidden_size=HIDDEN),
        helper.make_node("Concat", ["h_next", "c_next"], ["stateN"], axis=0),
    ]
    constants = {"limit": np.float32(0.05), "slope": np.float32(200), "first": np.array([0])}
    constants.update((name, value.astype(np.float32)) for name, value in weights.items())
    save(folder, "vad", nodes,
         [tensor("input", TensorProto.FLOAT, [None, None]), tensor("state", TensorProto.FLOAT, [2, None, HIDDEN]),
          tensor("sr", TensorProto.INT64, [1])],
         [tensor("output", TensorProto.FLOAT, [None, 1]), tensor("stateN", TensorProto.FLOAT, [None, None, None])],
         constants)


def punctuation(folder):
    table = np.zeros((len(WORDS), len(MARKS)), np.float32)
    for row, mark in enumerate(WORDS.values()):
        table[row, MARKS.index(mark)] = 1
    save(folder, "punctuation", [helper.make_node("Gather", ["table", "inputs"], ["logits"])],
         [tensor("inputs", TensorProto.INT32, ["N", "T"]), tensor("text_lengths", TensorProto.INT32, ["N"])],
         [tensor("logits", TensorProto.FLOAT, ["N", "T", len(MARKS)])], {"table": table}, tokens="|".join(WORDS),
         vocab_size=str(len(WORDS)), punctuations="|".join(MARKS), unk_symbol="<unk>", model_type="ct_transformer")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    vad(folder)
    punctuation(folder)


if __name__ == "__main__":
    main()

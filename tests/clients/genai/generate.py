"""Generates with onnxruntime-genai on the library that the module `onnxruntime` brings, and writes what came of it:

    generate.py MODELS THREADS RESULT.json

MODELS is a folder of models; the result has the tokens of each model and case, some logits, and the library's files."""
import json
import pathlib
import sys

import numpy as np
import onnxruntime_genai as genai

WORDS, PAD = 320, 0
NEW = 24  # tokens that most cases generate


def loaded_libraries():
    """The files that the process has mapped as ONNX Runtime: one, or one that hands on to another."""
    files = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
    return sorted(f for f in files if pathlib.Path(f).name.startswith(("libonnxruntime.so", "libortolan.so")))


def prompt(length, seed=0):
    return np.random.default_rng([length, seed]).integers(3, WORDS, length).astype(np.int32)


class Model:
    def __init__(self, folder, threads):
        config = genai.Config(str(folder))
        options = {"intra_op_num_threads": threads}
        config.overlay(json.dumps({"model": {"decoder": {"session_options": options}}}))
        self.model = genai.Model(config)

    def generator(self, **options):
        parameters = genai.GeneratorParams(self.model)
        # No model of random weights knows when to stop, so that lengths are the test's own.
        parameters.set_search_options(**{"min_length": options.get("max_length", 128), "max_length": 128, **options})
        return genai.Generator(self.model, parameters)


def continue_by(generator, count):
    for _ in range(count):
        generator.generate_next_token()


def sequences(generator, count=1):
    return [[int(token) for token in generator.get_sequence(i)] for i in range(count)]


def finished(generator, count=1):
    while not generator.is_done():
        generator.generate_next_token()
    return sequences(generator, count)


def greedy(model, length=7, **options):
    generator = model.generator(max_length=length + NEW, **options)
    generator.append_tokens(prompt(length))
    return finished(generator)


def sampled(model):
    return greedy(model, do_sample=True, top_k=30, top_p=0.9, temperature=1.3, random_seed=11)


def beams(model):
    generator = model.generator(max_length=9 + NEW, num_beams=4, num_return_sequences=3, length_penalty=0.8)
    generator.append_tokens(prompt(9))
    return finished(generator, 3)


def batch(model, lengths, left, **options):
    """Prompts of several lengths, filled up on the left or the right."""
    most = max(lengths)
    rows = np.full((len(lengths), most), PAD, np.int32)
    for row, length in zip(rows, lengths):
        row[most - length if left else 0:][:length] = prompt(length, 1)
    generator = model.generator(batch_size=len(lengths), max_length=most + NEW, **options)
    generator.append_tokens(rows)
    return finished(generator, len(lengths))


def chat(model):
    """A conversation: each turn goes on where the one before it ended."""
    generator = model.generator()
    for turn, length in enumerate((11, 3, 1, 20)):
        generator.append_tokens(prompt(length, turn))
        continue_by(generator, 8)
    return sequences(generator)


def rewound(model):
    """Goes back in a conversation, first into it, then to its beginning."""
    generator, kept = model.generator(), []
    generator.append_tokens(prompt(12))
    continue_by(generator, 10)
    for length in (15, 0):
        kept += sequences(generator)
        generator.rewind_to(length)
        generator.append_tokens(prompt(5, length + 1))
        continue_by(generator, 10)
    return kept + sequences(generator)


CASES = {
    "greedy": greedy,
    "greedy_long": lambda model: greedy(model, 70),
    "repetition": lambda model: greedy(model, repetition_penalty=1.4, no_repeat_ngram_size=0),
    "sampled": sampled,
    "beams": beams,
    "batch": lambda model: batch(model, (8, 8, 8), False),
    "batch_sampled": lambda model: batch(model, (5, 5), False, do_sample=True, top_k=40, random_seed=3),
    "padded_left": lambda model: batch(model, (8, 3, 5), True),
    "padded_right": lambda model: batch(model, (8, 3, 5), False),
    "chat": chat,
    "rewound": rewound,
}


def outcome(case, model):
    """What a case gives, or what the error says."""
    try:
        return case(model)
    except Exception as error:  # compared, as results are
        return f"{type(error).__name__}: {error}"


def logits(model):
    """Of the last word of a prompt, at once and in two pieces."""
    found = {}
    for name, pieces in {"whole": (33,), "pieces": (20, 13)}.items():
        generator, words = model.generator(), prompt(33)
        for piece in pieces:
            generator.append_tokens(words[:piece])
            words = words[piece:]
        found[name] = generator.get_logits().reshape(-1, WORDS)[-1].tolist()
    return found


def main():
    models, threads, result = sys.argv[1:]
    if hasattr(genai, "disable_telemetry_events"):
        genai.disable_telemetry_events()
    found = {}
    for folder in sorted(pathlib.Path(models).iterdir()):
        model = Model(folder, int(threads))
        found[folder.name] = {name: outcome(case, model) for name, case in CASES.items()}
        found[folder.name]["logits"] = logits(model)
    with open(result, "w", encoding="utf-8") as file:
        json.dump({"libraries": loaded_libraries(), "version": genai.__version__, "models": found}, file)


if __name__ == "__main__":
    main()

"""One side of a comparison: loads a language model and obeys lines of standard input.

    turns.py FOLDER THREADS CLOCK

    prompt N     reads N words into a new conversation
    decode N     generates N more

It answers with the seconds, by the CLOCK perf_counter or process_time.
"""
import json
import sys
import time

import numpy as np
import onnxruntime_genai as genai


def model_of(folder, threads):
    config = genai.Config(folder)
    config.overlay(json.dumps({"model": {"decoder": {"session_options": {"intra_op_num_threads": threads}}}}))
    return genai.Model(config)


class Conversation:
    def __init__(self, model, words, length):
        parameters = genai.GeneratorParams(model)
        parameters.set_search_options(max_length=length, min_length=length)
        self.generator, self.words = genai.Generator(model, parameters), words

    def prompt(self, count):
        self.generator.append_tokens(np.random.default_rng(5).integers(3, self.words, count).astype(np.int32))
        self.generator.generate_next_token()

    def decode(self, count):
        for _ in range(count):
            self.generator.generate_next_token()


def main():
    folder, threads, clock = sys.argv[1:]
    now = getattr(time, clock)
    if hasattr(genai, "disable_telemetry_events"):
        genai.disable_telemetry_events()
    with open(f"{folder}/genai_config.json", encoding="utf-8") as file:
        sizes = json.load(file)["model"]
    model, conversation = model_of(folder, int(threads)), None
    print("ready", flush=True)
    for line in sys.stdin:
        verb, count = line.split()
        if verb == "prompt":
            conversation = Conversation(model, sizes["vocab_size"], sizes["context_length"])
        begin = now()
        getattr(conversation, verb)(int(count))
        print(now() - begin, flush=True)


if __name__ == "__main__":
    main()

"""silero-vad's networks over a made-up voice, chunk by chunk with their state: the package's own loop needs PyTorch."""
import pathlib
import sys

import numpy as np
import onnxruntime

RATE, CHUNK, CONTEXT = 16000, 512, 64
NETWORKS = ("silero_vad", "silero_vad_16k_op15", "silero_vad_half", "silero_vad_op18_ifless")
# Probabilities of fp32 networks that feed on their own state, some hundred times in a row.
TOLERANCES = {name: {"atol": 1e-5} for name in NETWORKS}
FORMANTS = ((730, 1090, 2440), (270, 2290, 3010), (570, 840, 2410), (300, 870, 2240))


def voice():
    """Two seconds of vowels at a falling pitch between seconds of faint noise."""
    noise = np.random.default_rng(5).normal(0, 1e-3, 4 * RATE)
    time = np.arange(2 * RATE) / RATE
    phase = 2 * np.pi * np.cumsum(140 - 20 * time + 4 * np.sin(9 * time)) / RATE
    sound = np.zeros_like(time)
    for harmonic in range(1, 28):
        pitch = harmonic * 130
        gains = [sum(1 / (1 + ((pitch - formant) / 90) ** 2) for formant in vowel) for vowel in FORMANTS]
        sound += np.interp(time * 4 % 4, range(5), [*gains, gains[0]]) * np.sin(harmonic * phase)
    noise[RATE:3 * RATE] += 0.3 * sound / abs(sound).max() * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * time))
    return noise.astype(np.float32)


def probabilities(network, sound):
    """Of speech in each chunk."""
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(network, sess_options=options)
    state, context, found = np.zeros((2, 1, 128), np.float32), np.zeros((1, CONTEXT), np.float32), []
    rate = {"sr": np.array(RATE, np.int64)} if "sr" in [port.name for port in session.get_inputs()] else {}
    for begin in range(0, len(sound) - CHUNK + 1, CHUNK):
        heard = np.concatenate([context, sound[None, begin:begin + CHUNK]], 1)
        output, state = session.run(None, {"input": heard, "state": state, **rate})
        context = heard[:, -CONTEXT:]
        found.append(output[0, 0])
    return np.array(found)


def results():
    folder = next(path for path in (pathlib.Path(entry, "silero_vad/data") for entry in sys.path) if path.exists())
    return {name: probabilities(str(folder / f"{name}.onnx"), voice()) for name in NETWORKS}


def check(found):
    """There is a voice in the middle and none at the ends."""
    for name, values in found.items():
        second = RATE // CHUNK
        assert values[:second - 1].max() < 0.2 < 0.8 < values[second + 4:3 * second - 8].max(), (name, values.round(2))

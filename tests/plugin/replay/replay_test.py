#!/usr/bin/python3
"""The node suite on two providers that take random nodes, and on the CPU alone: every case must end the same way.

usage: replay_test.py RUNNER PLUGIN TESTDATA IGNORED [SEED...]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RUNNER, PLUGIN, DATA, IGNORED = sys.argv[1:5]
SEEDS = [int(seed) for seed in sys.argv[5:]] or [1, 2]
PROVIDERS = ["ExampleCompile", "ExampleKernel"]


def run(report, *options):
    """The outcomes by case, and what went wrong in them."""
    command = [RUNNER, "--json", "--ignore", IGNORED, *options, f"{DATA}/node"]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "REPLAY_REPORT": report})
    if not result.stdout.startswith("{"):
        sys.exit(f"{' '.join(command)}: code {result.returncode}\n{result.stderr[-2000:]}")
    cases = json.loads(result.stdout)["cases"]
    return {case["name"]: (case["outcome"], case.get("reason", "")) for case in cases}


def differ(alone, shared):
    """Cases of random numbers are ignored where they fail, and sometimes pass."""
    return alone != shared and {alone, shared} != {"ignored", "passed"}


def main():
    if not pathlib.Path(DATA, "node").is_dir():
        print(f"replay: skipped, {DATA} is missing; ./dev setup installs it")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        alone = run(f"{folder}/none")
        for seed in SEEDS:
            report = f"{folder}/{seed}"
            options = ["--plugin", f"replay|{PLUGIN}"]
            for number, provider in enumerate(PROVIDERS):
                entry = f"ep.{provider.lower()}executionprovider.seed|{seed + 100 * number}"
                options += ["-e", provider, "-C", entry]
            shared = run(report, *options)
            different = [name for name in alone if differ(alone[name][0], shared[name][0])]
            for name in different:
                print(f"seed {seed}: {name}: {shared[name][0]} {shared[name][1]}; alone: {alone[name][0]}")
            counts = [int(n) for n in re.findall(r"\d+", pathlib.Path(report).read_text())]
            print(f"seed {seed}: {len(shared)} cases, {counts[0]} groups of {counts[1]} nodes, {counts[2]} runs; "
                  f"{len(different)} cases differ")
            failed += len(different) + (counts[0] < 300)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())

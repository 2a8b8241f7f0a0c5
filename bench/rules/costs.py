"""What each pattern that the audit reports costs: before and after, on this machine.

    python bench/rules/costs.py [--seconds N] [CODE…] > evidence/rules/costs.json

After N seconds no further case is begun; what was left out is listed.

Without a CUDA device it only proves that it runs: sizes are tiny and no number means anything.
"""
import argparse
import json
import platform
import sys
import time

import torch

from harness import CASES, ON_GPU, run_case
import moving  # noqa: F401
import memory  # noqa: F401
import waiting  # noqa: F401


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("codes", nargs="*")
    options = parser.parse_args()
    began = time.perf_counter()
    results, left_out = [], []
    for code, title, steps, warm, function in CASES:
        if options.codes and not any(code.startswith(one) for one in options.codes):
            continue
        at = time.perf_counter()
        if at - began > options.seconds:
            left_out.append(code)
            continue
        results.append({"case": code, "title": title, **run_case(steps, warm, function)})
        print(f"{code} {time.perf_counter() - at:.1f} s", file=sys.stderr, flush=True)
    print(
        json.dumps(
            {
                "command": "python bench/rules/costs.py",
                "device": torch.cuda.get_device_name() if ON_GPU else "cpu (numbers mean nothing)",
                "python": platform.python_version(),
                "torch": torch.__version__,
                "cuda": torch.version.cuda,
                "seconds": round(time.perf_counter() - began),
                "left_out": left_out,
                "cases": results,
            },
            indent=1,
        )
    )
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()

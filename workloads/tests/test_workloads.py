"""The five workloads at their tiny size, in one process: python -m unittest discover -s workloads/tests"""
import contextlib
import io
import json
import math
import runpy
import sys
import tempfile
import unittest
from pathlib import Path

import torch

WORKLOADS = Path(__file__).resolve().parents[1]
PAIRS = {
    "lslora": ("lslora/before/train_lslora.py --size tiny --steps 3", "lslora/after/train_lslora.py --size tiny --steps 3"),
    "phi4_lora": (
        "phi4_lora/before/src/main.py size=tiny train.steps=3",
        "phi4_lora/before/src/main.py size=tiny train.steps=3 model.gradient_checkpointing=true"
        " model.checkpoint_every=2 model.use_cache=false model.low_cpu_mem_usage=true model.autocast_adapters=true train.loss=chunked",
    ),
    "qwen7b_lora": (
        "qwen7b_lora/before/train_baseline.py --size tiny --steps 3",
        "qwen7b_lora/after/train_baseline.py --size tiny --steps 3",
    ),
    "full_13b": (
        "full_13b/before/training_system.py --size tiny --batches 6",
        "full_13b/after/train.py --size tiny --batches 6 --loss chunked",
    ),
}


@contextlib.contextmanager
def alone():
    """Scripts have modules of the same names (config, lslora): none sees another's."""
    path, argv, modules = list(sys.path), sys.argv, set(sys.modules)
    try:
        yield
    finally:
        sys.path[:], sys.argv = path, argv
        for name in set(sys.modules) - modules:
            module = vars(sys.modules[name])  # not getattr: lazy modules import what they are asked for
            file = module.get("__file__") or next(iter(module.get("__path__", [])), "")
            if file.startswith(str(WORKLOADS)) and "harness" not in file:
                del sys.modules[name]


def train(line):
    script, *args = line.split(" ")
    script = WORKLOADS / script
    with alone(), tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        report = Path(folder) / "report.json"
        sys.path.insert(0, str(script.parent))
        sys.argv = [str(script), *args, "--measure", str(report)]
        runpy.run_path(str(script), run_name="__main__")
        return json.loads(report.read_text())


def load(folder, name):
    """A module of a workload, by itself."""
    with alone():
        sys.path.insert(0, str(WORKLOADS / folder))
        return runpy.run_path(str(WORKLOADS / folder / name))


class Tiny(unittest.TestCase):
    def test_before_and_after_compute_the_same(self):
        for name, (before, after) in PAIRS.items():
            with self.subTest(name):
                a, b = train(before), train(after)
                self.assertEqual(len(a["losses"]), 3)
                self.assertEqual(a["trained"], b["trained"])
                for x, y in zip(a["losses"], b["losses"]):
                    self.assertAlmostEqual(x, y, delta=1e-4)

    def test_qat_switches_its_bit_widths_and_learns(self):
        for options in ("", " --gradient-checkpointing --on-demand"):
            report = train("qat_gpt2/before/train_qat.py --size tiny --steps 8 --accumulation 2" + options)
            self.assertTrue(all(math.isfinite(loss) for loss in report["losses"]))
            self.assertLess(report["losses"][-1], report["losses"][0] + 0.1)


    def test_two_versions_are_timed_in_turn(self):
        folder = str(WORKLOADS / "qat_gpt2/before")
        report = train(f"qat_gpt2/pairs.py {folder} {folder} --size tiny --pairs 2 --steps 2")
        self.assertEqual(len(report["blocks"]), 2)
        low, high = report["interval99"]
        self.assertTrue(low <= report["change"] <= high)


class Full13b(unittest.TestCase):
    def test_one_of_two_ranks_under_fsdp2_trains_its_shard(self):
        try:
            report = train("full_13b/after/train.py --size tiny --batches 2 --spread fsdp2 --fake-ranks 2")
        finally:
            torch.distributed.destroy_process_group()
        self.assertTrue(all(math.isfinite(loss) for loss in report["losses"]))

    def test_layers_split_over_two_places_compute_the_same(self):
        whole = train("full_13b/after/train.py --size tiny --batches 4")
        halves = train("full_13b/after/train.py --size tiny --batches 4 --spread layers")
        self.assertEqual(whole["losses"], halves["losses"])

    def test_the_layers_of_the_13b_model_are_divided_in_the_middle(self):
        places = load("full_13b/after", "spread.py")["layer_map"](57, ["cuda:0", "cuda:1"])
        self.assertEqual((places["model.layers.28"], places["model.layers.29"]), ("cuda:0", "cuda:1"))
        self.assertEqual((places["model.embed_tokens"], places["lm_head"]), ("cuda:0", "cuda:1"))

    def test_a_last_partial_group_weighs_what_the_others_do(self):
        reports = [train(f"full_13b/after/train.py --size tiny --batches 5 --state {at}") for at in ("host", "card")]
        self.assertEqual(reports[0]["losses"], reports[1]["losses"])
        for report in reports:
            self.assertEqual(len(report["losses"]), 3)
            # A mean over the group: near ln 8192, not half of it.
            self.assertAlmostEqual(report["losses"][-1], math.log(8192), delta=0.5)

    def test_memory_over_the_threshold_is_an_alert(self):
        memory = load("full_13b/after", "memory.py")
        now = {"allocated": 1e9, "reserved": 2e9, "peak": 46e9}
        log = memory["MemoryLog"](every=2, threshold_gb=45, read=lambda: now)
        with self.assertLogs("training", "WARNING"):
            log.step(0)
        log.step(1)
        now["peak"] = 44e9
        log.step(2)
        self.assertEqual(log.alerts, 1)


class Ladder(unittest.TestCase):
    def test_climbs_until_there_is_room(self):
        climb = load("qwen7b_lora/after", "ladder.py")["climb"]
        seen = []

        def attempt(rung):
            seen.append(rung.name)
            if not rung.fused_loss:
                raise torch.OutOfMemoryError("full")

        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(climb("plain", attempt), ["plain", "checkpointing", "fused-loss"])
        self.assertEqual(seen, ["plain", "checkpointing", "fused-loss"])

    def test_says_so_when_nothing_fits(self):
        climb = load("qwen7b_lora/after", "ladder.py")["climb"]

        def attempt(rung):
            raise torch.OutOfMemoryError("full")

        with contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(SystemExit, "no rung"):
            climb("half-batch", attempt)


if __name__ == "__main__":
    unittest.main()

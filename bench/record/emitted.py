"""Runs scripts that `plimsoll fit --emit pytorch` wrote, on a CUDA machine, and records what each took.

    python bench/record/emitted.py DIR

DIR is what `npm run --silent bench:emitted -- write DIR` made: cases.json, and a folder with train.py for each case.
All but the saving of the weights is run. The model's numbers are random and the text is of four words; nothing comes from the network. Each script runs three
steps, in a process of its own, all at once. Writes DIR/runs.jsonl.
"""
import json
import os
import subprocess
import sys

ONE = """
import json, sys, time
import torch
begin = time.time()
sys.argv = ["train.py", "data.txt"]
made = {"__name__": "__main__"}
exec(compile(open("train.py").read().replace('model.save_pretrained("out")', ""), "train.py", "exec"), made)
stats = torch.cuda.memory_stats()
print("RESULT " + json.dumps({
    "loss": made["loss"].item(), "seconds": time.time() - begin,
    "peak_allocated": stats["allocated_bytes.all.peak"], "peak_reserved": stats["reserved_bytes.all.peak"],
    "retries": stats["num_alloc_retries"], "torch": torch.__version__, "card": torch.cuda.get_device_name(0),
}))
"""


def make_model(config, folder):
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

    # On the card, where a billion random numbers take no time.
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config), dtype=torch.bfloat16)
    model.save_pretrained(folder)
    inner = Tokenizer(models.WordLevel({"a": 0, "b": 1, "c": 2, "<end>": 3}, unk_token="<end>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>").save_pretrained(folder)


def main(folder):
    with open(os.path.join(folder, "cases.json")) as file:
        cases = json.load(file)
    make_model(cases["config"], os.path.join(folder, "model"))
    threads = str(max(1, os.cpu_count() // len(cases["cases"])))
    running = []
    for case in cases["cases"]:
        at = os.path.join(folder, case["name"])
        with open(os.path.join(at, "data.txt"), "w") as file:
            file.write(" ".join("abc"[i % 3] for i in range(3 * case["tokens"])))
        process = subprocess.Popen(
            [sys.executable, "-c", ONE], cwd=at, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "OMP_NUM_THREADS": threads},
        )
        running.append((case, process))
    with open(os.path.join(folder, "runs.jsonl"), "w") as rows:
        for case, process in running:
            output, _ = process.communicate()
            line = next((l for l in output.splitlines() if l.startswith("RESULT ")), None)
            row = json.loads(line[7:]) if line else {"error": output[-1500:]}
            rows.write(json.dumps({"name": case["name"], **row}) + "\n")
            rows.flush()
            print(case["name"], "ok" if line else row["error"], flush=True)


main(sys.argv[1])

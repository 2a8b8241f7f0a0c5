import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { python } from "../support/python.ts";

const PROBE = fileURLToPath(new URL("../../probe", import.meta.url));
const FILES = readdirSync(PROBE, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".py"),
);

test("every file is Python 3.8's grammar and imports the standard library alone", async () => {
  const snippet = `
import ast, json, sys
known = set(sys.stdlib_module_names) | {"torch", "plimsoll_probe", "sitecustomize"}
problems = []
for name in sys.argv[1:]:
    tree = ast.parse(open(name).read(), name, feature_version=(3, 8))
    top = {node for node in tree.body}
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else (
            [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else [])
        for module in names:
            if module.split(".")[0] not in known or (module.split(".")[0] == "torch" and node in top):
                problems.append(f"{name}:{node.lineno} {module}")
print(json.dumps(problems))
`;
  const files = FILES.map((file) => join(PROBE, file));
  expect(files.length).toBeGreaterThan(10);
  expect(JSON.parse(await python(snippet, files))).toEqual([]);
});

test("helpers and launchers are told from training processes by their command line", async () => {
  const lines: [boolean, string[]][] = [
    [true, ["python", "-c", "from multiprocessing.resource_tracker import main;main(5)"]],
    [true, ["python", "-s", "-c", "from multiprocessing.forkserver import main; main(3, 4)"]],
    [true, ["python", "/venv/bin/torchrun", "--nproc-per-node", "2", "train.py"]],
    [true, ["python", "-m", "torch.distributed.run", "train.py"]],
    [true, ["python", "-W", "ignore", "/venv/bin/accelerate", "launch", "train.py"]],
    [true, ["python", "-m", "deepspeed.launcher.launch", "train.py"]],
    [false, ["python", "-u", "train.py", "torchrun"]],
    [false, ["python", "-m", "trl.scripts.sft"]],
    [false, ["python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)"]],
    [false, ["python"]],
  ];
  const snippet = `
import json, sys
sys.path.insert(0, sys.argv[1])
from plimsoll_probe.process import is_bystander
print(json.dumps([is_bystander(line) for line in json.load(sys.stdin)]))
`;
  const input = JSON.stringify(lines.map(([, line]) => line));
  expect(JSON.parse(await python(snippet, [PROBE], { input }))).toEqual(lines.map(([expected]) => expected));
});

test("nothing it writes into the training's output", () => {
  for (const file of FILES)
    expect(readFileSync(join(PROBE, file), "utf8"), file).not.toMatch(/\bprint\(|sys\.std(out|err)/);
});

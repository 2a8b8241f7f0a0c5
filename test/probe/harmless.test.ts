import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder } from "../support/folder.ts";
import { train, trainBare } from "./training.ts";

/** Leaks on purpose, so that the census and the line watch run too; prints everything that could have been disturbed. */
const TELLTALE = `
import gc, hashlib, random, sys, warnings
import torch
torch.manual_seed(3)
random.seed(3)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Dropout(0.3), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters())
kept = []
def train():
    for step in range(40):
        output = model(torch.randn(8 + random.randrange(8), 16))
        loss = output.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append(output)
        print(loss.item().hex())
train()
print(random.random().hex(), hashlib.sha256(bytes(torch.get_rng_state().tolist())).hexdigest())
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
print(gc.isenabled(), gc.get_threshold(), sys.gettrace(), len(warnings.filters))
sys.exit(7)
`;

test("losses, weights, random numbers and the exit code are those of the bare run, to the bit", async () => {
  const watched = await train(TELLTALE);
  const bare = await trainBare(watched.script);
  expect(watched.records[0]!.leaks()).toHaveLength(1);
  expect(watched.stdout).toBe(bare.stdout);
  expect(watched.stderr).toBe(bare.stderr);
  expect(watched.code).toBe(7);
});

test("the user's own sitecustomize runs, and nothing of torch is imported for a script that does not", async () => {
  const own = emptyFolder();
  writeFileSync(join(own, "sitecustomize.py"), "import builtins\nbuiltins.greeting = 'from the user'\n");
  const source = `
import sys
print(greeting, "torch" in sys.modules, sys.modules["sitecustomize"].__file__, any("probe" in p for p in sys.path))
`;
  const { stdout, stderr, records } = await train(source, { PYTHONPATH: own });
  expect(stdout).toBe(`from the user False ${join(own, "sitecustomize.py")} False\n`);
  expect(stderr).toBe("");
  expect(records).toEqual([]);
});

const PLAIN = `
import os, resource, sys
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def steps(n, pause=0.0):
    import time
    for _ in range(n):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        time.sleep(pause)
`;

test("a full disk ends the record, not the run; what was written stays readable", async () => {
  const { code, stdout, stderr, records } = await train(`${PLAIN}
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
steps(400, 0.002)
print("done")
`);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "done\n", stderr: "" });
  expect(records[0]!.steps).toBeGreaterThan(3);
  expect(records[0]!.steps).toBeLessThan(400);
});

test("a run folder that cannot be made costs nothing but the record", async () => {
  const blocked = join(emptyFolder(), "file");
  writeFileSync(blocked, "");
  const { code, stdout, stderr } = await train(`${PLAIN}
os.environ  # the folder is below a file
import plimsoll_probe.session as s
s._session.folder = ${JSON.stringify(join(blocked, "run"))}
steps(5)
print("done")
`);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "done\n", stderr: "" });
});

test("forked and spawned children: those that train record themselves, the others leave no trace", async () => {
  const { code, stdout, stderr, records } = await train(`${PLAIN}
import multiprocessing
def idle():
    torch.ones(2)
def child(n):
    torch.set_num_threads(1)
    steps(n)
if __name__ == "__main__":
    torch.set_num_threads(1)
    steps(3)
    for target, args, how in ((idle, (), "fork"), (child, (4,), "fork"), (child, (5,), "spawn")):
        process = multiprocessing.get_context(how).Process(target=target, args=args)
        process.start()
        process.join()
        assert process.exitcode == 0
    steps(3)
    print("done")
`);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "done\n", stderr: "" });
  const seen = records.map((record) => record.steps).toSorted((a, b) => a - b);
  // multiprocessing ends a forked child with os._exit: its last quarter of a second may be missing.
  expect(seen).toContain(6);
  expect(seen).toContain(5);
  expect(seen.length).toBeLessThanOrEqual(3);
});

test("a folder of a package called like ours does not confuse it", async () => {
  const own = emptyFolder();
  mkdirSync(join(own, "plimsoll_probe"));
  writeFileSync(join(own, "plimsoll_probe/__init__.py"), "raise RuntimeError('imported')\n");
  const { code, stderr } = await train("print('fine')", { PYTHONPATH: own });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

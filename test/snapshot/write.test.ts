import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { placeApart } from "../../src/snapshot/place.ts";
import { type PlacedTape, writeSnapshot } from "../../src/snapshot/write.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action, Kind, Phase } from "../../src/tape/vocabulary.ts";
import { emptyFolder } from "../support/folder.ts";
import { python } from "../support/python.ts";
import { fixtureBytes, read, RECORDED, rows } from "./fixtures.ts";

function written(
  devices: readonly PlacedTape[],
  about: Parameters<typeof writeSnapshot>[1] = { allocatorSettings: {}, annotations: [] },
): Uint8Array {
  const chunks: Uint8Array[] = [];
  writeSnapshot(devices, about, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}

/** A prediction: no addresses, no stacks, but modules, phases and kinds. */
function predicted(): Tape {
  const tape = new Tape({ source: "plan" });
  const module = tape.modules.id("model.layers.0.mlp");
  tape.append(Action.alloc, 0, 4_000_000, 0, Phase.load, Kind.weight, module);
  tape.append(Action.alloc, 1, 100, 0, Phase.forward, Kind.activation, module, 1);
  tape.append(Action.alloc, 2, 70_000, 0, Phase.backward, Kind.gradient, module, 1);
  tape.append(Action.free, 1, 100, 0, Phase.backward, Kind.activation, module, 1);
  tape.append(Action.empty_cache, -1, 0);
  tape.append(Action.free_requested, 2, 70_000, 0, Phase.optimizer, Kind.gradient, module, 1);
  return tape;
}

test.each(RECORDED)("%s: what is written reads back equal", (name) => {
  const first = read(fixtureBytes(`${name}.pickle.gz`));
  const second = read(written(first.devices, first));
  expect(rows(second.devices[0]!.tape)).toEqual(rows(first.devices[0]!.tape));
  expect(second.annotations).toEqual(first.annotations);
  expect(second.allocatorSettings).toEqual(first.allocatorSettings);
  const { stack: _s, blocks: _b, ...segments } = first.devices[0]!.segments;
  expect(second.devices[0]!.segments).toMatchObject(segments);
  expect(second.devices[0]!.segments.blocks.requested).toEqual(first.devices[0]!.segments.blocks.requested);
});

test("a history without its beginning stays right when written", () => {
  const first = read(fixtureBytes("small-p4.pickle"));
  const second = read(written(first.devices, first));
  expect(rows(second.devices[0]!.tape)).toEqual(rows(first.devices[0]!.tape));
});

test("a predicted tape gets addresses, and frames from its modules", () => {
  const { tape, segments } = read(written([placeApart(predicted())])).devices[0]!;
  expect(tape.info.truncated).toBe(false);
  expect(rows(tape).map(([action, storage, bytes, , stack]) => [action, storage, bytes, stack])).toEqual([
    ["segment_alloc", -1, 4_000_256, ""],
    ["alloc", 0, 4_000_000, "model.layers.0.mlp:0:load weight"],
    ["segment_alloc", -1, 512, ""],
    ["alloc", 1, 100, "model.layers.0.mlp:1:forward activation"],
    ["segment_alloc", -1, 70_144, ""],
    ["alloc", 2, 70_000, "model.layers.0.mlp:1:backward gradient"],
    ["free", 1, 100, "model.layers.0.mlp:1:backward activation"],
    ["segment_free", -1, 512, ""],
    ["free_requested", 2, 70_000, "model.layers.0.mlp:1:optimizer gradient"],
  ]);
  expect([...segments.blocks.requested]).toEqual([4_000_000, 70_000]);
  expect([...segments.blocks.state]).toEqual([0, 1]);
});

test("devices keep their numbers, long strings survive", () => {
  const tape = new Tape({ device: 2 });
  const stack = `${"/long".repeat(20_000)}:7:at::native::add`;
  tape.append(
    Action.alloc,
    0,
    512,
    tape.streamIndex(94_000_000_000_000),
    0,
    0,
    0,
    0,
    tape.stacks.id(stack),
    2 ** 40,
    5,
  );
  const { devices } = read(written([placeApart(tape)]));
  expect(devices.map(({ device }) => device)).toEqual([2]);
  expect(devices[0]!.tape.stacks.text(devices[0]!.tape.columns.stack[1]!) === stack).toBe(true);
  expect(devices[0]!.tape.streams).toContain(94_000_000_000_000);
});

test("PyTorch's own viewer opens what is written", async () => {
  const folder = emptyFolder();
  const names: string[] = [];
  const save = (name: string, bytes: Uint8Array): void => {
    writeFileSync(join(folder, name), bytes);
    names.push(join(folder, name));
  };
  for (const name of RECORDED) {
    const snapshot = read(fixtureBytes(`${name}.pickle.gz`));
    save(name, written(snapshot.devices, snapshot));
  }
  save("predicted", written([placeApart(predicted())]));
  const printed = await python(
    `
import json, pickle, sys
from torch.cuda import _memory_viz as viz
out = []
for path in sys.argv[1:]:
    data = pickle.load(open(path, "rb"))
    out.append({
        "trace": len(viz.trace(data).splitlines()) > 3,
        "segments": len(viz.segsum(data).splitlines()) > 3,
        "plot": "<html" in viz.trace_plot(data, device=0).lower() or len(viz.trace_plot(data, device=0)) > 1000,
        "memory": len(viz.segment_plot(data)) > 1000,
        "folded": isinstance(viz.memory(data, format_flamegraph=lambda lines: lines), str),
    })
print(json.dumps(out))
`,
    names,
  );
  const fine = { trace: true, segments: true, plot: true, memory: true, folded: true };
  expect(JSON.parse(printed)).toEqual(names.map(() => fine));
});

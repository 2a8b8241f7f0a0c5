import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { Op } from "../src/snapshot/opcodes.ts";
import { BATCH, Pickler } from "../src/snapshot/pickler.ts";

const MiB = 2 ** 20;
const BASE = 139_838_531_567_616;

/** A generator of its own, so that every run makes the same file (xorshift32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/**
 * Writes a snapshot of about `size` bytes as `_dump_snapshot` lays it out: protocol 4, frames shared by reference, a
 * list of frames for each allocation and each free, "N/A" anew for every event, a thousand events behind a mark. The
 * training it records is made up (forward, backward and optimizer steps of a model with 24 layers); the depths of its
 * stacks follow recorded ones: about 30 Python frames in forward, none in backward, 8 in the optimizer.
 */
export function generateSnapshot(path: string, size: number): void {
  const file = openSync(`${path}.part`, "w");
  const progress = { written: 0 };
  const pending: Uint8Array[] = [];
  const out = new Pickler((chunk) => {
    pending.push(chunk);
    progress.written += chunk.length;
    if (pending.length < 64) return;
    writeSync(file, Buffer.concat(pending.splice(0)));
  });

  out.open(Op.EMPTY_DICT);
  out.op(Op.MARK);
  out.text("segments");
  out.open(Op.EMPTY_LIST);
  out.text("device_traces");
  out.open(Op.EMPTY_LIST);
  out.op(Op.MARK);
  out.open(Op.EMPTY_LIST);
  const run = new Run(out);
  while (progress.written < size) run.step();
  run.close();
  out.op(Op.APPENDS);
  out.text("allocator_settings");
  out.open(Op.EMPTY_DICT);
  out.op(Op.SETITEMS);
  out.finish();

  writeSync(file, Buffer.concat(pending));
  closeSync(file);
  renameSync(`${path}.part`, path);
}

class Run {
  readonly #out: Pickler;
  readonly #random = random(7);
  readonly #frames: number[] = [];
  readonly #forward: number[][];
  readonly #optimizer: number[][];
  #time = 1_794_705_764_741_514;
  #inBatch = 0;
  /** Free addresses, newest last: the allocator hands out the same ones again in every step. */
  readonly #free = Array.from({ length: 4096 }, (_, at) => BASE + (4095 - at) * 2 * MiB);

  constructor(out: Pickler) {
    this.#out = out;
    this.#forward = Array.from({ length: 600 }, (_, at) => this.#stack(24 + this.#random(16), at * 3));
    this.#optimizer = Array.from({ length: 40 }, (_, at) => this.#stack(8, 2000 + at));
  }

  /** Outer frames are common to all stacks, inner ones their own. */
  #stack(depth: number, first: number): number[] {
    return Array.from({ length: depth }, (_, at) => (at < 4 ? 100 + first + at : depth - at));
  }

  step(): void {
    const held: { address: number; size: number; frames: readonly number[] }[] = [];
    for (const frames of this.#forward) {
      const size = 512 * (1 + this.#random(4096));
      held.push({ address: this.#alloc(size, frames), size, frames });
      const temporary = this.#alloc(size, frames);
      this.#release(temporary, size, frames);
    }
    while (held.length > 0) {
      const { address, size } = held.pop()!;
      const gradient = this.#alloc(size, []);
      this.#release(address, size, []);
      this.#release(gradient, size, []);
    }
    for (const frames of this.#optimizer) this.#release(this.#alloc(4 * MiB, frames), 4 * MiB, frames);
  }

  close(): void {
    if (this.#inBatch > 0) this.#out.op(Op.APPENDS);
  }

  #alloc(size: number, frames: readonly number[]): number {
    const address = this.#free.pop()!;
    this.#event("alloc", address, size);
    this.#list(frames);
    this.#out.op(Op.SETITEMS);
    return address;
  }

  #release(address: number, size: number, frames: readonly number[]): void {
    this.#free.push(address);
    this.#event("free_requested", address, size);
    const list = this.#list(frames);
    this.#out.op(Op.SETITEMS);
    this.#event("free_completed", address, size);
    this.#out.get(list);
    this.#out.op(Op.SETITEMS);
  }

  /** An event up to its frames. */
  #event(action: string, address: number, size: number): void {
    const out = this.#out;
    if (this.#inBatch === BATCH) {
      out.op(Op.APPENDS);
      this.#inBatch = 0;
    }
    if (this.#inBatch++ === 0) out.op(Op.MARK);
    out.open(Op.EMPTY_DICT);
    out.op(Op.MARK);
    out.text("action");
    out.text(action);
    out.item("addr", address);
    out.item("size", size);
    out.item("stream", 0);
    out.item("time_us", (this.#time += 1 + this.#random(30)));
    out.text("compile_context");
    out.freshText("N/A");
    out.text("user_metadata");
    out.text("");
    out.text("frames");
  }

  #list(frames: readonly number[]): number {
    const list = this.#out.open(Op.EMPTY_LIST);
    if (frames.length === 0) return list;
    this.#out.op(Op.MARK);
    for (const frame of frames) this.#frame(frame);
    this.#out.op(Op.APPENDS);
    return list;
  }

  #frame(frame: number): void {
    const out = this.#out;
    const known = this.#frames[frame];
    if (known !== undefined) return out.get(known);
    this.#frames[frame] = out.open(Op.EMPTY_DICT);
    out.op(Op.MARK);
    out.text("name");
    out.text(`forward_${frame % 300}`);
    out.text("filename");
    out.text(`/venv/lib/python3.12/site-packages/transformers/models/gpt2/modeling_${frame % 50}.py`);
    out.item("line", 20 + frame);
    return out.op(Op.SETITEMS);
  }
}

import { describe, expect, it } from "vitest";
import { inspect } from "../../src/inspect/inspect.ts";
import type { InspectResult } from "../../src/inspect/result.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action } from "../../src/tape/vocabulary.ts";

const SITE = "/usr/lib/python3/site-packages";
const CALL = `${SITE}/torch/nn/modules/module.py:1:_call_impl`;
const LOAD = `${SITE}/torch/nn/modules/linear.py:9:__init__\n/home/me/train.py:3:main`;
const FORWARD = `${SITE}/torch/nn/modules/linear.py:1:forward\n${CALL}\n/home/me/model.py:7:forward\n${CALL}\n/home/me/train.py:12:main`;
const STEP = `${SITE}/torch/optim/adam.py:5:step\n/home/me/train.py:14:main`;
const FINAL = { reserved: 0, active: 0, free: 0, freeBlocks: 0, largestFree: 0, trapped: 0 };
const MB = 1_000_000;

/** A run by hand: storages are numbered as they come, `free` takes what `alloc` gave. */
class Run {
  readonly tape: Tape;
  /** False records as `context="alloc"` does. */
  readonly #freesHaveFrames: boolean;
  #next = 0;
  #time = 0;

  constructor({ truncated = false, freesHaveFrames = true } = {}) {
    this.tape = new Tape({ source: "snapshot", truncated });
    this.#freesHaveFrames = freesHaveFrames;
  }

  /** Already there when the recording began. */
  earlier(bytes: number, stack: string): number {
    this.tape.append(Action.alloc, this.#next, bytes, 0, 0, 0, 0, 0, this.tape.stacks.id(stack), 0, 1);
    this.#time = 1;
    return this.#next++;
  }

  alloc(bytes: number, stack: string): number {
    this.tape.append(
      Action.alloc,
      this.#next,
      bytes,
      0,
      0,
      0,
      0,
      0,
      this.tape.stacks.id(stack),
      0,
      ++this.#time,
    );
    return this.#next++;
  }

  free(id: number, bytes: number, stack = ""): void {
    const where = this.tape.stacks.id(this.#freesHaveFrames ? stack : "");
    this.tape.append(Action.free, id, bytes, 0, 0, 0, 0, 0, where, 0, ++this.#time);
  }

  /** Forward, backward, optimizer; `inForward` adds what the step itself does. */
  step(inForward: () => void): void {
    const activation = this.alloc(10 * MB, FORWARD);
    inForward();
    const gradient = this.alloc(5 * MB, "");
    this.free(activation, 10 * MB);
    const scratch = this.alloc(MB, STEP);
    this.free(scratch, MB, STEP);
    this.free(gradient, 5 * MB, `${SITE}/torch/optim/optimizer.py:8:zero_grad\n/home/me/train.py:15:main`);
  }

  result(): InspectResult {
    return inspect(this.tape, "run", { marks: [], final: FINAL }).result;
  }
}

function run(steps: number, inForward: (run: Run, step: number) => void): InspectResult {
  const made = new Run();
  made.alloc(5 * MB, LOAD);
  for (let step = 1; step <= steps; step++) made.step(() => inForward(made, step));
  return made.result();
}

describe("what grows", () => {
  it("is a leak when every step adds and none gives back", () => {
    const result = run(5, (made) => made.alloc(2 * MB, FORWARD));
    expect(result.growth.verdict).toBe("leak");
    expect(result.growth.leaks[0]).toMatchObject({
      perStep: 2 * MB,
      held: 10 * MB,
      count: 5,
      heldByStep: [2, 4, 6, 8, 10].map((held) => held * MB),
      // The model is the user's own: named is the line that called it, and where in it the storages were made.
      user: { file: "/home/me/train.py", line: 12, function: "main" },
      sites: [{ allocation: { file: "/home/me/model.py", line: 7, function: "forward" } }],
    });
  });

  it("is a leak when only some steps add, in sizes that vary", () => {
    const result = run(9, (made, step) => step % 2 === 0 && made.alloc(step * MB, FORWARD));
    expect(result.growth.leaks[0]?.held).toBe((2 + 4 + 6 + 8) * MB);
  });

  it("is not a leak when one step's output is replaced by the next one's, though each be larger", () => {
    let last = -1;
    const result = run(6, (made, step) => {
      const next = made.alloc(step * 3 * MB, FORWARD);
      if (last >= 0) made.free(last, (step - 1) * 3 * MB, FORWARD);
      last = next;
    });
    expect(result.growth.verdict).toBe("steady");
    expect(result.growth.lastStep).toEqual([{ label: "activation", bytes: 18 * MB, count: 1 }]);
  });

  it("is not a leak when only the first step keeps: optimizer state and other warm-up", () => {
    const result = run(4, (made, step) => step === 1 && made.alloc(40 * MB, STEP));
    expect(result.growth.verdict).toBe("steady");
    expect(result.growth.warmUp).toEqual([{ label: "optimizer state", bytes: 40 * MB, count: 1 }]);
  });

  it("is not a leak when a queue of fixed length fills and then turns over", () => {
    const queue: number[] = [];
    const result = run(12, (made) => {
      queue.push(made.alloc(2 * MB, FORWARD));
      if (queue.length > 3) made.free(queue.shift()!, 2 * MB, FORWARD);
    });
    expect(result.growth.leaks.map((leak) => leak.heldByStep)).toEqual([]);
  });

  it("is no finding when it is a few bytes: a loss kept as a scalar", () => {
    const result = run(6, (made) => made.alloc(4, FORWARD));
    expect(result.growth.verdict).toBe("steady");
  });

  it("is seen though the recording shows neither the optimizer nor where anything is freed", () => {
    const made = new Run({ freesHaveFrames: false });
    made.alloc(5 * MB, LOAD);
    for (let step = 1; step <= 4; step++) {
      const activation = made.alloc(10 * MB, FORWARD);
      made.alloc(2 * MB, FORWARD);
      const gradient = made.alloc(5 * MB, "");
      made.free(activation, 10 * MB);
      made.free(gradient, 5 * MB);
    }
    const { steps, growth } = made.result();
    expect([steps, growth.verdict, growth.leaks[0]?.perStep]).toEqual([4, "leak", 2 * MB]);
  });

  it("counts what earlier steps left when a full ring buffer lost them", () => {
    const made = new Run({ truncated: true });
    made.earlier(5 * MB, LOAD);
    for (let lost = 0; lost < 4; lost++) made.earlier(2 * MB, FORWARD);
    made.earlier(10 * MB, STEP);
    for (let step = 1; step <= 3; step++) made.step(() => made.alloc(2 * MB, FORWARD));
    const { growth } = made.result();
    expect(growth.leaks.map((leak) => [leak.perStep, leak.held, leak.count])).toEqual([[2 * MB, 14 * MB, 7]]);
  });

  it("cannot be told from two steps", () => {
    const result = run(2, (made) => made.alloc(2 * MB, FORWARD));
    expect(result.growth.verdict).toBe("unknown");
    expect(result.growth.steps.map((step) => step.growth)).toEqual([2 * MB, 2 * MB]);
  });
});

describe("attribution", () => {
  it("gives every storage the kind its stack and lifetime tell", () => {
    const made = new Run();
    made.alloc(5 * MB, LOAD);
    const input = `/home/me/train.py:11:main`;
    made.alloc(MB, `${SITE}/peft/tuners/lora/layer.py:3:update_layer\n/home/me/train.py:4:main`);
    made.step(() => {});
    made.alloc(3 * MB, input);
    made.step(() => made.free(made.alloc(7 * MB, FORWARD), 7 * MB, FORWARD));
    made.result();
    const { kind, bytes, action } = made.tape.columns;
    const kinds = new Map<string, number>();
    const names = [
      "unknown",
      "weight",
      "adapter",
      "gradient",
      "optimizer state",
      "activation",
      "temporary",
      "workspace",
      "input",
    ];
    for (let row = 0; row < made.tape.length; row++) {
      if (action[row] === Action.alloc) kinds.set(`${names[kind[row]!]} ${bytes[row]! / MB}`, row);
    }
    expect([...kinds.keys()].sort()).toEqual([
      "activation 10",
      "adapter 1",
      "gradient 5",
      "input 3",
      "temporary 1",
      "temporary 7",
      "weight 5",
    ]);
  });

  it("counts what an exception lets go as alive at the moment it was thrown", () => {
    const made = new Run();
    made.alloc(5 * MB, LOAD);
    const saved = made.alloc(10 * MB, FORWARD);
    made.tape.append(Action.oom, -1, 20 * MB, 0, 0, 0, 0, 0, made.tape.stacks.id(FORWARD), 512, 1e6);
    made.free(saved, 10 * MB, "/home/me/train.py:20:main");
    const [oom] = made.result().ooms;
    expect(oom!.byKind).toEqual([
      { label: "activation", bytes: 10 * MB, count: 1 },
      { label: "weight", bytes: 5 * MB, count: 1 },
    ]);
  });

  it("finds the user's line outside installed packages, and says nothing where there is none", () => {
    const made = new Run();
    made.alloc(MB, `${SITE}/torch/a.py:1:f\n/home/me/my-project/train.py:5:main`);
    made.alloc(2 * MB, `${SITE}/torch/a.py:1:f`);
    made.alloc(3 * MB, "C:\\work\\train.py:8:main");
    const { bySite } = made.result().peak;
    expect(bySite.map((site) => site.user && `${site.user.file} ${site.user.line}`)).toEqual([
      "C:\\work\\train.py 8",
      null,
      "/home/me/my-project/train.py 5",
    ]);
  });

  it("calls everything unknown when nothing was recorded to tell", () => {
    const made = new Run();
    made.alloc(MB, "");
    const result = made.result();
    expect(result.frames).toBe(false);
    expect(result.peak.byKind).toEqual([{ label: "unknown", bytes: MB, count: 1 }]);
    expect(result.growth.verdict).toBe("unknown");
  });
});

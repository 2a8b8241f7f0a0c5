import { expect, test } from "vitest";
import { checkpointNonReentrant, checkpointReentrant } from "../../src/autograd/checkpoint.ts";
import { runBackward } from "../../src/autograd/engine.ts";
import { mul, relu, scale, silu } from "../../src/autograd/pointwise.ts";
import type { Tensor } from "../../src/autograd/tensor.ts";
import type { Torch } from "../../src/autograd/torch.ts";
import { events, held, newTorch } from "./events.ts";

const KB = [16, 16];

/** Three operations: two whose inputs or outputs backward needs, and a last that needs nothing. */
function body(torch: Torch): (x: Tensor) => Tensor {
  return (x) =>
    torch.frame(() => {
      const y = torch.let(silu(torch, scale(torch, x)));
      return scale(torch, relu(torch, y));
    });
}

function backward(torch: Torch, loss: Tensor): string[] {
  const one = held(torch, loss.shape);
  torch.gradEnabled = false;
  return events(torch, () => runBackward(torch, loss.node!, 0, one));
}

test("a checkpointed forward keeps its argument and its result", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const plain = events(torch, () => body(torch)(x));
  const checkpointed = events(torch, () => checkpointNonReentrant(torch, x, [], body(torch)));
  // Plain: silu's input (0) and relu's output (2) stay beside the result; checkpointed: the result alone.
  expect(plain).toEqual(["A0:1024", "A1:1024", "A2:1024", "A3:1024", "F1"]);
  expect(checkpointed).toEqual(["A0:1024", "A1:1024", "F0", "A2:1024", "A3:1024", "F2", "F1"]);
});

test("recomputation stops at the last tensor backward needs", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const loss = checkpointNonReentrant(torch, x, [], body(torch));
  loss.floating = false;
  // scale's backward needs nothing (0). relu's asks for its output: scale (1), silu (2), relu (3) run again, and
  // the last scale does not. Its gradient (4) frees 3; silu's (5) frees 1; x's own is 6.
  expect(backward(torch, loss)).toEqual([
    "A0:1024",
    "A1:1024",
    "A2:1024",
    "A3:1024",
    "F2",
    "A4:1024",
    "F3",
    "F0",
    "A5:1024",
    "F1",
    "F4",
    "A6:1024",
    "F5",
  ]);
});

test("a reentrant checkpoint runs everything again, and a backward inside", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const loss = checkpointReentrant(torch, scale(torch, x), [], body(torch));
  loss.floating = false;
  const run = backward(torch, loss);
  // The last scale (3) is computed too.
  expect(run.slice(0, 5)).toEqual(["A0:1024", "A1:1024", "A2:1024", "A3:1024", "F1"]);
  expect(run.filter((e) => e.startsWith("A")).length - run.filter((e) => e.startsWith("F")).length).toBe(0);
});

test("keyword arguments live as long as the graph, positional ones until their layer has run backward", () => {
  const torch = newTorch();
  const made = (positional: boolean): { run: string[]; after: string[] } => {
    torch.gradEnabled = true;
    const x = held(torch, KB, "fp32", true);
    const mask = torch.empty([512], "fp32");
    mask.floating = false;
    const layer = (h: Tensor): Tensor => mul(torch, h, h);
    const loss = checkpointReentrant(
      torch,
      scale(torch, x),
      positional ? [] : [mask],
      layer,
      positional ? [mask] : [],
    );
    loss.floating = false;
    torch.unref(mask);
    const run = backward(torch, loss);
    return { run, after: events(torch, () => torch.unref(loss)) };
  };
  const keyword = made(false);
  const positional = made(true);
  // Dropping the loss frees it, and the mask with it when that was bound by keyword.
  expect(keyword.after).toEqual(["F?", "F?"]);
  expect(positional.after).toEqual(["F?"]);
  expect(positional.run.length).toBe(keyword.run.length + 1);
});

test("an output without a gradient is given zeros by a reentrant checkpoint", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const both = (h: Tensor): readonly Tensor[] =>
    torch.frame(() => {
      const y = torch.let(relu(torch, h));
      return [scale(torch, y), y];
    });
  const [loss, extra] = checkpointReentrant(torch, scale(torch, x), [], both) as [Tensor, Tensor];
  for (const t of [loss, extra]) t.floating = false;
  const run = backward(torch, loss);
  // Zeros (0), relu and scale again (1, 2), scale's gradient (3) and its sum with the zeros (4).
  expect(run.slice(0, 6)).toEqual(["A0:1024", "A1:1024", "A2:1024", "A3:1024", "A4:1024", "F3"]);
});

test("a checkpoint whose result is dropped gives its argument back", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const run = events(torch, () => {
    const loss = checkpointNonReentrant(torch, scale(torch, x), [], body(torch));
    torch.consume(loss);
  });
  expect(run.filter((e) => e.startsWith("A")).length).toBe(run.filter((e) => e.startsWith("F")).length);
});

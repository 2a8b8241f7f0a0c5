import { expect, test } from "vitest";
import { runBackward } from "../../src/autograd/engine.ts";
import type { Tensor } from "../../src/autograd/tensor.ts";
import { add, mul, relu, scale } from "../../src/autograd/pointwise.ts";
import { linear } from "../../src/autograd/matmul.ts";
import { transpose } from "../../src/autograd/views.ts";
import type { Torch } from "../../src/autograd/torch.ts";
import { events, held, newTorch } from "./events.ts";

const KB = [16, 16];

/** Bytes and order of backward alone, the loss's gradient given. */
function backward(torch: Torch, loss: Tensor): string[] {
  const one = held(torch, loss.shape, loss.dtype);
  torch.gradEnabled = false;
  return events(torch, () => runBackward(torch, loss.node!, 0, one));
}

/** A node that says when it runs. */
function marked(torch: Torch, name: string, inputs: readonly Tensor[], ran: string[]): Tensor {
  const out = torch.empty([4], "fp32");
  torch.record(name, [out], inputs, [], () => {
    ran.push(name);
    return inputs.map(() => torch.empty([4], "fp32"));
  });
  for (const t of inputs) torch.consume(t);
  return out;
}

test("the youngest node that is ready runs first, and no node before all its gradients have come", () => {
  const torch = newTorch();
  const ran: string[] = [];
  const x = held(torch, [4], "fp32", true);
  const first = marked(torch, "first", [x], ran);
  const old = marked(torch, "old", [first], ran);
  const young = marked(torch, "young", [first], ran);
  const last = marked(torch, "last", [old, young], ran);
  backward(torch, last);
  expect(ran).toEqual(["last", "young", "old", "first"]);
});

test("a leaf's gradient is ready before any older node runs", () => {
  const torch = newTorch();
  const order: string[] = [];
  const w = held(torch, [4], "fp32", true);
  const x = held(torch, [4], "fp32", true);
  torch.onGradient = (leaf) => order.push(leaf === w ? "w" : "x");
  const below = marked(torch, "below", [x], order);
  backward(torch, marked(torch, "above", [below, w], order));
  expect(order).toEqual(["above", "w", "below", "x"]);
});

test("a leaf takes a fresh gradient over, and adds later ones in place", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  expect(backward(torch, relu(torch, x))).toEqual(["A0:1024"]);
  torch.gradEnabled = true;
  const again = relu(torch, x);
  expect(backward(torch, again)).toEqual(["A0:1024", "F0"]);
});

test("a leaf copies a gradient that others hold, or that is laid out otherwise", () => {
  const torch = newTorch();
  const [x, y] = [held(torch, KB, "fp32", true), held(torch, KB, "fp32", true)];
  // add hands one gradient to both: neither may keep it.
  const both = backward(torch, add(torch, x, y));
  expect(both).toEqual(["A0:1024", "A1:1024"]);
  torch.gradEnabled = true;
  const z = held(torch, KB, "fp32", true);
  expect(backward(torch, scale(torch, transpose(torch, z, 0, 1)))).toEqual(["A0:1024", "A1:1024", "F0"]);
});

test("two gradients of one tensor: the first is added to in place where nobody else holds it", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const sum = (): Tensor => {
    torch.gradEnabled = true;
    const y = scale(torch, x);
    y.floating = false;
    return add(torch, scale(torch, y), scale(torch, y));
  };
  // Each branch makes a gradient (0, 1); the first takes in the second; y's own gradient is x's (2).
  expect(backward(torch, sum())).toEqual(["A0:1024", "A1:1024", "F1", "A2:1024", "F0"]);
});

test("a gradient that is a view is never added to in place", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const y = scale(torch, x);
  y.floating = false;
  const turned = (): Tensor => transpose(torch, scale(torch, transpose(torch, y, 0, 1)), 0, 1);
  // The branches' gradients (0, 1) arrive through transposes: the sum (2) is new, then x's (3).
  expect(backward(torch, add(torch, turned(), turned()))).toEqual([
    "A0:1024",
    "A1:1024",
    "A2:1024",
    "F0",
    "F1",
    "A3:1024",
    "F2",
  ]);
});

test("a broadcast operand's gradient is summed to its shape", () => {
  const torch = newTorch();
  const x = held(torch, [8, 64], "fp32", true);
  const scaleBy = held(torch, [64], "fp32", true);
  // The factor's gradient first at full size (0), then x's (1), then the sum (2).
  expect(backward(torch, mul(torch, x, scaleBy))).toEqual(["A0:2048", "A1:2048", "A2:256", "F0"]);
});

test("with a bias the weight's gradient is stored before the input's meets another", () => {
  const torch = newTorch();
  torch.useCublas();
  torch.useCublasLt();
  const x = held(torch, [2, 8, 16], "bf16", true);
  const h = scale(torch, x);
  h.floating = false;
  const project = (): Tensor => {
    const [w, b] = [held(torch, [16, 16], "bf16", true), held(torch, [16], "bf16", true)];
    for (const leaf of [w, b]) leaf.grad = held(torch, leaf.shape, "bf16");
    return linear(torch, h, w, b);
  };
  // Both projections: input, weight, bias; weight and bias go into what is there (freed), then inputs meet (6).
  expect(backward(torch, add(torch, project(), project())).join(" ")).toBe(
    "A0:512 A1:512 A2:32 F1 F2 A3:512 A4:512 A5:32 F4 F5 A6:512 F0 F3 A7:512 F6",
  );
});

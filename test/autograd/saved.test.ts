import { expect, test } from "vitest";
import { conv1d, linear, matmul } from "../../src/autograd/matmul.ts";
import { layerNorm } from "../../src/autograd/norm.ts";
import {
  add,
  gelu,
  meanLast,
  mul,
  pow,
  relu,
  rsqrt,
  scale,
  sigmoid,
  silu,
  softmax,
  tanh,
} from "../../src/autograd/pointwise.ts";
import { embedding } from "../../src/autograd/lookup.ts";
import { crossEntropy } from "../../src/autograd/cross-entropy.ts";
import type { Tensor } from "../../src/autograd/tensor.ts";
import type { Torch } from "../../src/autograd/torch.ts";
import { cat, contiguous, select, slice, split, to, transpose, view } from "../../src/autograd/views.ts";
import { python } from "../support/python.ts";
import { eventsSince, held, newTorch } from "./events.ts";

interface Case {
  readonly torch: string;
  readonly ours: (t: Torch, x: Tensor, y: Tensor, w: Tensor, b: Tensor, ids: Tensor) => Tensor;
}

/**
 * Each operation twice: in Python over x [2, 8, 16], y like it, w [16, 16], b [16], all requiring grad, and in
 * our words. What matters is how many bytes of new memory the graph keeps once the result is dropped from view.
 */
const CASES: readonly Case[] = [
  { torch: "x * y", ours: (t, x, y) => mul(t, x, y) },
  { torch: "(x * 2) * y", ours: (t, x, y) => mul(t, scale(t, x), y) },
  { torch: "(x * 2) * (y * 2)", ours: (t, x, y) => mul(t, scale(t, x), scale(t, y)) },
  { torch: "(x * 2) + y", ours: (t, x, y) => add(t, scale(t, x), y) },
  { torch: "F.silu(x * 2)", ours: (t, x) => silu(t, scale(t, x)) },
  { torch: "F.gelu(x * 2)", ours: (t, x) => gelu(t, scale(t, x)) },
  { torch: "F.relu(x * 2) * 2", ours: (t, x) => scale(t, relu(t, scale(t, x))) },
  { torch: "torch.tanh(x * 2) * 2", ours: (t, x) => scale(t, tanh(t, scale(t, x))) },
  { torch: "torch.sigmoid(x * 2) * 2", ours: (t, x) => scale(t, sigmoid(t, scale(t, x))) },
  { torch: "(x * 2).pow(2) * 2", ours: (t, x) => scale(t, pow(t, scale(t, x))) },
  { torch: "torch.rsqrt(x * 2) * 2", ours: (t, x) => scale(t, rsqrt(t, scale(t, x))) },
  { torch: "(x * 2).mean(-1, keepdim=True) * 2", ours: (t, x) => scale(t, meanLast(t, scale(t, x))) },
  { torch: "torch.softmax(x * 2, -1) * 2", ours: (t, x) => scale(t, softmax(t, scale(t, x), null)) },
  {
    torch: "torch.softmax((x * 2).bfloat16(), -1, dtype=torch.float32) * 2",
    ours: (t, x) => scale(t, softmax(t, to(t, scale(t, x), "bf16"), "fp32")),
  },
  { torch: "F.linear(x * 2, w) * 2", ours: (t, x, _y, w) => scale(t, linear(t, scale(t, x), w, null)) },
  { torch: "F.linear(x * 2, w, b) * 2", ours: (t, x, _y, w, b) => scale(t, linear(t, scale(t, x), w, b)) },
  {
    torch: "F.linear(x * 2, w.detach()) * 2",
    ours: (t, x, _y, w) => scale(t, linear(t, scale(t, x), frozen(w), null)),
  },
  {
    torch: "torch.addmm(b, (x * 2).view(-1, 16), w).view(2, 8, 16) * 2",
    ours: (t, x, _y, w, b) => scale(t, conv1d(t, scale(t, x), w, b)),
  },
  {
    torch:
      "torch.matmul((x * 2).view(2, 8, 2, 8).transpose(1, 2), (y * 2).view(2, 8, 2, 8).permute(0, 2, 3, 1)) * 2",
    ours: (t, x, y) =>
      scale(
        t,
        matmul(
          t,
          transpose(t, view(t, scale(t, x), [2, 8, 2, 8]), 1, 2),
          transpose(t, transpose(t, view(t, scale(t, y), [2, 8, 2, 8]), 1, 2), 2, 3),
        ),
      ),
  },
  {
    torch: "F.layer_norm(x * 2, (16,), b, b) * 2",
    ours: (t, x, _y, _w, b) => scale(t, layerNorm(t, scale(t, x), b, b)),
  },
  { torch: "(x * 2).bfloat16() * 2", ours: (t, x) => scale(t, to(t, scale(t, x), "bf16")) },
  {
    torch: "torch.cat([x * 2, y * 2], -1) * 2",
    ours: (t, x, y) => scale(t, cat(t, [scale(t, x), scale(t, y)], -1)),
  },
  { torch: "(x * 2)[..., :8] * 2", ours: (t, x) => scale(t, slice(t, scale(t, x), -1, 0, 8)) },
  { torch: "(x * 2)[..., 3, :] * 2", ours: (t, x) => scale(t, select(t, scale(t, x), 1)) },
  {
    torch: "F.silu((x * 2).split(8, -1)[0])",
    ours: (t, x) => silu(t, first(t, split(t, scale(t, x), [8, 8], -1))),
  },
  {
    torch: "F.silu((x * 2).transpose(0, 1).contiguous())",
    ours: (t, x) => silu(t, contiguous(t, transpose(t, scale(t, x), 0, 1))),
  },
  {
    torch: "F.embedding(ids, w) * 2",
    ours: (t, _x, _y, w, _b, ids) => scale(t, embedding(t, ids, w)),
  },
  {
    torch: "F.cross_entropy((x * 2).view(-1, 16), ids.view(-1))",
    ours: (t, x, _y, _w, _b, ids) => crossEntropy(t, view(t, scale(t, x), [-1, 16]), view(t, ids, [-1])),
  },
];

function frozen(w: Tensor): Tensor {
  w.requiresGrad = false;
  return w;
}

function first(torch: Torch, parts: readonly Tensor[]): Tensor {
  for (const part of parts.slice(1)) torch.consume(part);
  return parts[0]!;
}

/** Bytes of memory, new since the inputs, that stay when everything but the graph is gone. */
function kept(c: Case): number {
  const torch = newTorch();
  torch.useCublas();
  torch.useCublasLt();
  const input = (shape: number[]): Tensor => held(torch, shape, "fp32", true);
  const [x, y, w, b] = [input([2, 8, 16]), input([2, 8, 16]), input([16, 16]), input([16])];
  const ids = held(torch, [2, 8], "int64");
  const from = torch.tape.length;
  const result = c.ours(torch, x, y, w, b, ids);
  const own = torch.tape.columns.bytes[result.storage.row]!;
  const shared = result.storage.refs > 1;
  const sizes = new Map<string, number>();
  let live = 0;
  for (const event of eventsSince(torch, from)) {
    const [id, bytes] = event.slice(1).split(":") as [string, string?];
    if (bytes !== undefined) sizes.set(id, Number(bytes));
    live += bytes === undefined ? -(sizes.get(id) ?? 0) : Number(bytes);
  }
  return live - (shared ? 0 : own);
}

test("the graph keeps the bytes that torch's graph keeps", async () => {
  const answers = JSON.parse(
    await python(
      `
import json, sys, torch, torch.nn.functional as F
def kept(expression):
    x, y = (torch.randn(2, 8, 16, requires_grad=True) for _ in range(2))
    w, b = torch.randn(16, 16, requires_grad=True), torch.randn(16, requires_grad=True)
    ids = torch.zeros(2, 8, dtype=torch.long)
    own = {t.untyped_storage().data_ptr() for t in (x, y, w, b, ids)}
    saved = {}
    def pack(t):
        s = t.untyped_storage()
        if s.data_ptr() not in own: saved[s.data_ptr()] = s
        return t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = eval(expression)
    return sum(s.nbytes() for s in saved.values())
print(json.dumps([kept(e) for e in json.loads(sys.argv[1])]))`,
      [JSON.stringify(CASES.map((c) => c.torch))],
    ),
  ) as number[];
  expect(Object.fromEntries(CASES.map((c) => [c.torch, kept(c)]))).toEqual(
    Object.fromEntries(CASES.map((c, i) => [c.torch, answers[i]])),
  );
});

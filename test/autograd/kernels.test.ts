import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type SdpaKernel, chooseKernel, sdpa } from "../../src/autograd/attention.ts";
import { runBackward } from "../../src/autograd/engine.ts";
import { embedding } from "../../src/autograd/lookup.ts";
import { sumTo } from "../../src/autograd/reduce.ts";
import type { Tensor } from "../../src/autograd/tensor.ts";
import { contiguous, expand, passed, transpose } from "../../src/autograd/views.ts";
import { eventsSince, held, newTorch } from "./events.ts";

/** Recorded on an H200 by bench/record/kernels.py. */
const LINES = readFileSync(new URL("../fixtures/kernels/h200.txt", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean);

const dtypeOf = (name: string): "fp32" | "bf16" | "fp16" =>
  name === "torch.float32" ? "fp32" : name === "torch.bfloat16" ? "bf16" : "fp16";

/** Frees that follow one another in any order are one thing to the allocator. */
function normal(words: readonly string[]): string {
  const out: string[] = [];
  let frees: string[] = [];
  for (const word of [...words, ""]) {
    if (word.startsWith("F")) frees.push(word);
    else {
      out.push(...frees.sort(), word);
      frees = [];
    }
  }
  return out.join(" ").trim();
}

const KERNELS: Readonly<Record<string, SdpaKernel>> = {
  FLASH_ATTENTION: "flash",
  EFFICIENT_ATTENTION: "efficient",
  MATH: "math",
};

const attentions = LINES.filter((l) => l.startsWith("sdpa ")).map((line) => {
  const m = /^sdpa (\S+) B(\d+) H(\d+)\/(\d+) S(\d+) D(\d+) mask=(\w+) p=(\S+) (\w+) (.*)$/.exec(line)!;
  return { name: line.slice(0, line.indexOf(" A0:")), m };
});

test.each(attentions)("$name", ({ m }) => {
  const [batch, queries, keys, length, size] = m.slice(2, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const dtype = dtypeOf(m[1]!);
  const torch = newTorch();
  torch.useCublas();
  torch.thread = "autograd";
  torch.useCublas();
  const q = transpose(torch, held(torch, [batch, length, queries, size], dtype), 1, 2);
  const k = held(torch, [batch, keys, length, size], dtype);
  const v = held(torch, [batch, keys, length, size], dtype);
  q.floating = false;
  // The gradients go to the caller as they are, as with torch.autograd.grad.
  const grads: Tensor[] = [];
  const leaf = held(torch, [1], "fp32", true);
  for (const t of [q, k, v]) {
    torch.record("Given", [t], [leaf], [], ([g]) => {
      grads.push(passed(torch, g!));
      return [null];
    });
  }
  const grad = held(torch, [batch, length, queries, size], dtype);
  const square = held(torch, [1, 1, length, length], "bool");
  const mask = m[7] === "True" ? expand(torch, square, [batch, 1, length, length]) : null;
  if (mask) mask.floating = false;
  const from = torch.tape.length;
  torch.frame(() => {
    const kernel = (a: Tensor, b: Tensor, masked: boolean): SdpaKernel =>
      KERNELS[m[9]!] ?? chooseKernel(9, a, b, masked);
    const out = torch.let(sdpa(torch, q, k, v, { kernel, mask, dropout: Number(m[8]) }));
    const back = torch.let(contiguous(torch, transpose(torch, out, 1, 2)));
    torch.drop(out);
    torch.gradEnabled = false;
    runBackward(torch, back.node!, 0, grad);
  });
  for (const g of grads) torch.unref(g);
  // Random states and scalars of a few bytes round to one block each; their number is the kernel's business.
  const drop = (words: string[]): string[] => {
    const small = new Set(
      words
        .filter((w) => w.startsWith("A") && Number(w.split(":")[1]) < 32)
        .map((w) => w.slice(1).split(":")[0]),
    );
    const kept = words.filter((w) => w !== "|" && !small.has(w.slice(1).split(":")[0]!));
    const numbers = new Map<string, number>();
    return kept.map((w) => {
      const [id, bytes] = w.slice(1).split(":") as [string, string?];
      if (w.startsWith("A")) numbers.set(id, numbers.size);
      return bytes === undefined ? `F${numbers.get(id)}` : `A${numbers.get(id)}:${bytes}`;
    });
  };
  expect(normal(drop(eventsSince(torch, from)))).toBe(normal(drop(m[10]!.split(" "))));
});

test.each(LINES.filter((l) => l.startsWith("emb ")))("%s", (line) => {
  const m = /^emb n(\d+) V(\d+) W(\d+) (\S+) .*?(A0:.*?) \|/.exec(line)!;
  const torch = newTorch();
  const weight = held(torch, [Number(m[2]), Number(m[3])], dtypeOf(m[4]!), true);
  const ids = held(torch, [Number(m[1])], "int64");
  const out = embedding(torch, ids, weight);
  const grad = held(torch, out.shape, out.dtype);
  const from = torch.tape.length;
  runBackward(torch, out.node!, 0, grad);
  expect(eventsSince(torch, from).join(" ")).toBe(m[5]);
});

test("sums over leading dimensions take the buffers that were recorded", () => {
  const differences: string[] = [];
  for (const line of LINES.filter((l) => l.startsWith("sum "))) {
    const m = /^sum \(([\d, ]+)\) \[([\d, ]+)\] (\S+) None (.*?) \|/.exec(line)!;
    const [shape, dims] = [m[1]!, m[2]!].map((list) => list.split(", ").map(Number)) as [number[], number[]];
    if (dims.includes(shape.length - 1) || dims.every((d) => shape[d] === 1)) continue;
    const torch = newTorch();
    const x = held(torch, shape, dtypeOf(m[3]!));
    const from = torch.tape.length;
    torch.consume(
      sumTo(
        torch,
        x,
        shape.map((n, d) => (dims.includes(d) ? 1 : n)),
      ),
    );
    const got = eventsSince(torch, from).slice(0, -1).join(" ");
    if (got !== m[4]) differences.push(`${line}: ${got}`);
  }
  expect(differences).toEqual([]);
});

import { reduceAllScratch, reduceScratch } from "../autograd/reduce.ts";
import { type Tensor, numel } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Optimizer } from "./optimizer.ts";

interface Locals {
  grad: Tensor | null;
  weight: Tensor | null;
  update: Tensor | null;
}

/**
 * transformers.Adafactor without a first moment: a row and a column of second moments for a matrix, all of it
 * in fp32. `grad`, `p_data_fp32` and `update` are loop variables: each keeps its last value until reassigned.
 */
export function adafactor(): Optimizer {
  const known = new Set<Tensor>();
  return {
    step(torch, parameters) {
      const locals: Locals = { grad: null, weight: null, update: null };
      for (const p of parameters) stepOne(torch, p, known, locals);
      for (const t of [locals.grad, locals.weight, locals.update]) torch.consume(t);
    },
  };
}

function assign(torch: Torch, locals: Locals, name: keyof Locals, value: Tensor | null): void {
  torch.consume(locals[name]);
  locals[name] = value;
}

function stepOne(torch: Torch, p: Tensor, known: Set<Tensor>, locals: Locals): void {
  const { shape } = p;
  const low = p.dtype === "bf16" || p.dtype === "fp16";
  assign(torch, locals, "grad", low ? torch.empty(shape, "fp32") : null);
  const factored = shape.length >= 2;
  const rows = shape.slice(0, -1);
  const columns = [...shape.slice(0, -2), ...shape.slice(-1)];
  const fresh = !known.has(p);
  if (fresh) {
    known.add(p);
    for (const part of factored ? [rows, columns] : [shape])
      torch.empty(part, "fp32", Kind["optimizer state"]);
  }
  assign(torch, locals, "weight", low ? torch.empty(shape, "fp32") : null);
  // state["RMS"] becomes a tensor of one number.
  const rms = rootMeanSquare(torch, shape, fresh ? Kind["optimizer state"] : Kind.temporary);
  if (!fresh) torch.consume(rms);
  const squared = torch.empty(shape, "fp32");
  assign2(torch, locals, torch.empty(shape, "fp32"), squared);
  if (factored) {
    torch.consume(torch.empty(rows, "fp32"));
    const means = torch.empty(columns, "fp32");
    reduceScratch(torch, numel(columns), rows[rows.length - 1]!);
    torch.consume(means);
    const mean = torch.empty([...rows.slice(0, -1), 1], "fp32");
    const rowFactor = torch.empty(rows, "fp32");
    torch.consume(mean);
    const columnFactor = torch.empty(columns, "fp32");
    const product = torch.empty(shape, "fp32");
    torch.consume(rowFactor);
    torch.consume(columnFactor);
    assign(torch, locals, "update", product);
  } else {
    assign(torch, locals, "update", torch.empty(shape, "fp32"));
  }
  torch.consume(rootMeanSquare(torch, shape, Kind.temporary));
  // p_data_fp32.add_(-update)
  torch.consume(torch.empty(shape, "fp32"));
}

/** `tensor.norm(2) / √n`. */
function rootMeanSquare(torch: Torch, shape: readonly number[], kind: number): Tensor {
  const norm = torch.empty([], "fp32");
  reduceAllScratch(torch, numel(shape));
  const out = torch.empty([], "fp32", kind);
  torch.consume(norm);
  return out;
}

/** `update = (grad**2) + eps`: the square dies once the sum exists, the old update once it is bound. */
function assign2(torch: Torch, locals: Locals, sum: Tensor, squared: Tensor): void {
  torch.consume(squared);
  assign(torch, locals, "update", sum);
}

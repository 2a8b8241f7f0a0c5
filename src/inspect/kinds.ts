import type { Lifetimes } from "../tape/lifetimes.ts";
import type { Tape } from "../tape/tape.ts";
import { Action, Kind, Phase } from "../tape/vocabulary.ts";
import { StackClass } from "./stack-class.ts";
import { preludeLength } from "./steps.ts";

/**
 * cuBLAS and cuBLASLt workspaces by size: 32 MiB on compute capability 9.0 and above, 8,519,680 B (:4096:2:16:8)
 * below, 1 MiB for cuBLASLt. From PyTorch's CUDABlas getChosenWorkspaceSize and parseCUDABlasLtWorkspaceSize.
 */
const WORKSPACES = new Set([33_554_432, 8_519_680, 1_048_576]);

/** Fills the tape's kind column on every row of each storage. Unknown where frames and lifetime do not tell. */
export function markKinds(tape: Tape, lives: Lifetimes, classes: Uint8Array): void {
  const { action, storage, stack, step, phase, kind } = tape.columns;
  const { length } = tape;
  if (!classes.some((one) => one !== StackClass.frameless)) {
    markOptimizerState(tape, lives);
    return;
  }
  const prelude = preludeLength(tape);
  const firstForward = firstRow(tape, classes);
  const ooms = rowsOf(tape, Action.oom);
  const nextBackward = nextRowOf(tape, Phase.backward);
  const kinds = new Uint8Array(lives.born.length);
  /** Whether the current step's forward has begun: what user code makes before it is input. */
  let begun = -1;
  let nextOom = 0;
  for (let row = 0; row < length; row++) {
    if (classes[stack[row]!] === StackClass.forward && phase[row] === Phase.forward) begun = step[row]!;
    while (nextOom < ooms.length && ooms[nextOom]! < row) nextOom++;
    if (action[row] !== Action.alloc) continue;
    const id = storage[row]!;
    const died = lives.died[id]!;
    // What an exception's unwinding frees would otherwise have lived on.
    const outlives = died >= length || died > (ooms[nextOom] ?? length);
    const what = classes[stack[row]!]!;
    if (row < prelude) {
      kinds[id] = ofPrelude(what);
      continue;
    }
    const sameStep = !outlives && step[died] === step[row];
    const end = outlives ? -1 : phase[died]!;
    switch (phase[row]) {
      case Phase.load:
        if (what === StackClass.imports || what === StackClass.frameless) kinds[id] = Kind.unknown;
        else if (!outlives && died < firstForward) kinds[id] = Kind.temporary;
        else if (what === StackClass.adapter) kinds[id] = Kind.adapter;
        else kinds[id] = what === StackClass.build ? Kind.weight : Kind.input;
        break;
      case Phase.forward:
      case Phase.loss:
      case Phase.evaluation:
        if (what === StackClass.other && begun !== step[row]) kinds[id] = Kind.input;
        else if (!outlives && died < nextBackward[row]!) kinds[id] = Kind.temporary;
        else
          kinds[id] = isWorkspace(lives, id, died >= length, step[row]!) ? Kind.workspace : Kind.activation;
        break;
      case Phase.backward:
        if (sameStep && end === Phase.backward) kinds[id] = Kind.temporary;
        else if (isWorkspace(lives, id, died >= length, step[row]!)) kinds[id] = Kind.workspace;
        else kinds[id] = Kind.gradient;
        break;
      case Phase.optimizer:
        kinds[id] = sameStep ? Kind.temporary : Kind["optimizer state"];
        break;
      case Phase.clip:
      case Phase.save:
        kinds[id] = Kind.temporary;
        break;
    }
  }
  for (let row = 0; row < length; row++) if (storage[row]! >= 0) kind[row] = kinds[storage[row]!]!;
}

/** Kept for good from the first step on, in a size that only a workspace has. */
function isWorkspace(lives: Lifetimes, id: number, kept: boolean, step: number): boolean {
  return kept && step <= 1 && WORKSPACES.has(lives.bytes[id]!);
}

/** Of what was alive before the recording began, only the stack is known. */
function ofPrelude(what: number): number {
  if (what === StackClass.build) return Kind.weight;
  if (what === StackClass.adapter) return Kind.adapter;
  if (what === StackClass.optimizer) return Kind["optimizer state"];
  if (what === StackClass.forward || what === StackClass.loss) return Kind.activation;
  return Kind.unknown;
}

/** Without frames, only the optimizer's marked span says something. */
function markOptimizerState(tape: Tape, lives: Lifetimes): void {
  const { storage, step, phase, kind } = tape.columns;
  for (let row = 0; row < tape.length; row++) {
    const id = storage[row]!;
    const born = id < 0 ? -1 : lives.born[id]!;
    if (born < 0 || phase[born] !== Phase.optimizer) continue;
    const died = lives.died[id]!;
    kind[row] = died < tape.length && step[died] === step[born] ? Kind.temporary : Kind["optimizer state"];
  }
}

function firstRow(tape: Tape, classes: Uint8Array): number {
  for (let row = 0; row < tape.length; row++) {
    if (classes[tape.columns.stack[row]!] === StackClass.forward) return row;
  }
  return tape.length;
}

/** For each row, the first row of the phase at or after it; the tape's length when there is none. */
function nextRowOf(tape: Tape, wanted: number): Int32Array {
  const next = new Int32Array(tape.length);
  for (let row = tape.length - 1, at = tape.length; row >= 0; row--) {
    if (tape.columns.phase[row] === wanted) at = row;
    next[row] = at;
  }
  return next;
}

function rowsOf(tape: Tape, action: number): number[] {
  const rows: number[] = [];
  for (let row = 0; row < tape.length; row++) if (tape.columns.action[row] === action) rows.push(row);
  return rows;
}

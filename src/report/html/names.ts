import { allocationFrame, parseStack, userFrame } from "../../inspect/frames.ts";
import type { Lifetimes } from "../../tape/lifetimes.ts";
import type { Tape } from "../../tape/tape.ts";
import { place } from "../inspect-text.ts";

/**
 * What a page may hold of stacks and of module names. A process with generated code can have any number, and a
 * hostile file more: those behind the most bytes are kept.
 */
const MOST_NAMES = 20_000;
const MOST_TEXT = 8_000_000;
const MOST_FRAMES = 1_000_000;
const DEEPEST_STACK = 256;
const LONGEST_TEXT = 400;

const shortened = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;

export interface StackTable {
  readonly frames: readonly string[];
  readonly stacks: readonly (readonly number[])[];
  readonly lines: readonly string[];
  /** The page's id of each of the tape's stacks. */
  readonly ids: Int32Array;
  /** How many did not get one of their own. */
  readonly left: number;
}

const NOT_KEPT = "(left out of this page)";

export function stackTable(tape: Tape, lives: Lifetimes): StackTable {
  const frameIds = new Map<string, number>();
  let text = 0;
  let frames = 0;
  const frameId = (frame: string): number => {
    const known = frameIds.get(frame);
    if (known !== undefined) return known;
    frameIds.set(frame, frameIds.size);
    text += frame.length;
    return frameIds.size - 1;
  };
  const stacks: number[][] = [[], [frameId(NOT_KEPT)]];
  const lines = ["", NOT_KEPT];
  const ids = new Int32Array(tape.stacks.size).fill(1);
  ids[0] = 0;
  const used = byWeight(tape, lives, "stack");
  for (const id of used) {
    if (stacks.length > MOST_NAMES || text > MOST_TEXT || frames > MOST_FRAMES) break;
    const stack = tape.stacks.text(id);
    const own = outermostFirst(stack).map(frameId);
    frames += own.length;
    ids[id] = stacks.length;
    stacks.push(own);
    const parsed = parseStack(stack);
    const line = place({ allocation: allocationFrame(parsed), user: userFrame(parsed), phase: "unknown" });
    lines.push(shortened(line));
  }
  return { frames: [...frameIds.keys()], stacks, lines, ids, left: used.length - (stacks.length - 2) };
}

/** A runaway recursion keeps both its ends. */
function outermostFirst(stack: string): string[] {
  const frames = stack.split("\n").reverse();
  const half = DEEPEST_STACK / 2;
  const kept =
    frames.length <= DEEPEST_STACK
      ? frames
      : [...frames.slice(0, half), `… ${frames.length - DEEPEST_STACK} frames …`, ...frames.slice(-half)];
  return kept.map(shortened);
}

export interface ModuleTable {
  readonly modules: readonly string[];
  readonly ids: Int32Array;
  readonly left: number;
}

export function moduleTable(tape: Tape, lives: Lifetimes): ModuleTable {
  const modules = ["", NOT_KEPT];
  const ids = new Int32Array(tape.modules.size).fill(1);
  ids[0] = 0;
  let text = 0;
  const used = byWeight(tape, lives, "module");
  for (const id of used) {
    if (modules.length > MOST_NAMES || text > MOST_TEXT) break;
    const name = shortened(tape.modules.text(id));
    text += name.length;
    ids[id] = modules.length;
    modules.push(name);
  }
  return { modules, ids, left: used.length - (modules.length - 2) };
}

/** Ids that storages carry, by the bytes they made, most first. Zero, which is "none", is not among them. */
function byWeight(tape: Tape, lives: Lifetimes, column: "stack" | "module"): number[] {
  const ids = tape.columns[column];
  const weight = new Float64Array(column === "stack" ? tape.stacks.size : tape.modules.size);
  for (let storage = 0; storage < lives.born.length; storage++) {
    const row = lives.born[storage]!;
    // One more, so that what made only empty storages counts as used.
    if (row >= 0) weight[ids[row]!]! += lives.bytes[storage]! + 1;
  }
  return [...weight.keys()].filter((id) => id > 0 && weight[id]! > 0).sort((a, b) => weight[b]! - weight[a]!);
}

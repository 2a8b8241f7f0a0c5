import type { Bytes } from "../base/units.ts";
import { ABSENT, type Lifetimes } from "../tape/lifetimes.ts";
import { keyOf } from "../tape/makeup.ts";
import { stepEnds } from "../tape/survivors.ts";
import type { Tape } from "../tape/tape.ts";
import { Kind, Phase } from "../tape/vocabulary.ts";
import { callerFrame, parseStack } from "./frames.ts";
import type { Frame, GrowthReport, Leak, StepReport } from "./result.ts";
import { bySite, shares } from "./sites.ts";

/** Fewer complete steps than this cannot tell growth from warm-up: one step warms up, two may differ by chance. */
const ENOUGH_STEPS = 3;
/** Growth below both is no finding: at 64 kB a step, a gigabyte takes sixteen thousand steps. */
const SMALL_GROWTH: Bytes = 64_000;
const SMALL_SHARE = 0.001;
/** What comes and goes with the batch is not growth: at most this part of what was added may ever be given back. */
const GIVEN_BACK = 0.1;

/** Storages that outlive the step that made them, from one stack and of one kind. */
interface Pile {
  readonly ids: number[];
  /** Bytes held at the end of each step, by step number. */
  readonly held: Float64Array;
}

export function growthOf(tape: Tape, lives: Lifetimes, allocated: Float64Array, peak: Bytes): GrowthReport {
  const ends = stepEnds(tape);
  const steps = stepReports(tape, allocated, ends);
  const last = completeSteps(tape, ends.length - 1);
  const piles = pilesOf(tape, lives, ends, last);
  const growing = last < ENOUGH_STEPS ? [] : piles.filter((pile) => grows(tape, lives, pile, ends, last));
  const leaks = byUserLine(tape, lives, growing, ends, last).filter(
    (leak) => leak.perStep >= Math.min(SMALL_GROWTH, SMALL_SHARE * peak),
  );
  const leaked = new Set(growing.flatMap((pile) => pile.ids));
  const remaining = (step: number): Int32Array =>
    Int32Array.from(
      piles.flatMap((pile) =>
        pile.ids.filter(
          (id) => !leaked.has(id) && stepOf(tape, lives, id) === step && lives.died[id]! >= tape.length,
        ),
      ),
    );
  return {
    verdict: leaks.length > 0 ? "leak" : last < ENOUGH_STEPS ? "unknown" : "steady",
    steps,
    leaks,
    warmUp: last >= 1 ? shares(tape, lives, remaining(1), "kind") : [],
    lastStep: last >= 2 ? shares(tape, lives, remaining(last), "kind") : [],
  };
}

function stepReports(tape: Tape, allocated: Float64Array, ends: Int32Array): StepReport[] {
  const reports: StepReport[] = [];
  const peaks = new Float64Array(ends.length);
  const { step } = tape.columns;
  for (let row = 0; row < tape.length; row++) {
    if (allocated[row]! > peaks[step[row]!]!) peaks[step[row]!] = allocated[row]!;
  }
  for (let at = 1; at < ends.length; at++) {
    const atEnd = ends[at]! < 0 ? 0 : allocated[ends[at]!]!;
    const before = ends[at - 1]! < 0 ? 0 : allocated[ends[at - 1]!]!;
    reports.push({ step: at, peak: peaks[at]!, atEnd, growth: atEnd - before });
  }
  return reports;
}

/**
 * The last step that ran to its end. A recording often stops within one: that step shows no optimizer, unless the
 * optimizer leaves no trace in earlier ones either (a fused one allocates nothing after its first step).
 */
function completeSteps(tape: Tape, last: number): number {
  const { step, phase } = tape.columns;
  const optimized = new Uint8Array(last + 1);
  for (let row = 0; row < tape.length; row++) if (phase[row] === Phase.optimizer) optimized[step[row]!] = 1;
  if (last < 2 || optimized[last] === 1) return last;
  for (let at = 2; at < last; at++) if (optimized[at] === 0) return last;
  return last - 1;
}

const stepOf = (tape: Tape, lives: Lifetimes, id: number): number => keyOf(tape, lives, "step", id);

function pilesOf(tape: Tape, lives: Lifetimes, ends: Int32Array, last: number): Pile[] {
  const piles = new Map<string, Pile>();
  for (let id = 0; id < lives.born.length; id++) {
    if (lives.born[id] === ABSENT) continue;
    const made = stepOf(tape, lives, id);
    const died = lives.died[id]!;
    // Of a recording without its beginning, step 0 is everything before: earlier steps' leavings among it.
    if ((made < 1 && !tape.info.truncated) || made > last || died <= ends[made]!) continue;
    const stack = keyOf(tape, lives, "stack", id);
    // Without a stack, size is all that tells one kind of storage from another.
    const name = `${stack} ${keyOf(tape, lives, "kind", id)} ${stack === 0 ? lives.bytes[id] : ""}`;
    let pile = piles.get(name);
    if (!pile) piles.set(name, (pile = { ids: [], held: new Float64Array(last + 1) }));
    pile.ids.push(id);
    const until = died >= tape.length ? last : Math.min(last, tape.columns.step[died]! - 1);
    for (let at = made; at <= until; at++) pile.held[at]! += lives.bytes[id]!;
  }
  return [...piles.values()];
}

/** Added to in at least two steps after the first, (nearly) nothing ever let go, and made by three steps or more. */
function grows(tape: Tape, lives: Lifetimes, pile: Pile, ends: Int32Array, last: number): boolean {
  const kind = keyOf(tape, lives, "kind", pile.ids[0]!);
  if (kind === Kind["optimizer state"] || kind === Kind.workspace || kind === Kind.weight) return false;
  let added = 0;
  let gone = 0;
  let times = 0;
  for (let at = 2; at <= last; at++) {
    const change = pile.held[at]! - pile.held[at - 1]!;
    if (change > 0) {
      added += change;
      times++;
    } else gone -= change;
  }
  if (times < 2 || gone > GIVEN_BACK * added) return false;
  // A queue of fixed length fills up and then stays: what grows must grow in the later half too.
  if (pile.held[last]! <= pile.held[last >> 1]!) return false;
  const makers = new Set<number>();
  for (const id of pile.ids) if (lives.died[id]! > ends[last]!) makers.add(stepOf(tape, lives, id));
  return makers.size >= ENOUGH_STEPS;
}

function keeper(tape: Tape, lives: Lifetimes, id: number): Frame | null {
  return callerFrame(parseStack(tape.stacks.text(keyOf(tape, lives, "stack", id))));
}

function byUserLine(
  tape: Tape,
  lives: Lifetimes,
  piles: readonly Pile[],
  ends: Int32Array,
  last: number,
): Leak[] {
  const lines = new Map<string, Pile[]>();
  for (const pile of piles) {
    const user = keeper(tape, lives, pile.ids[0]!);
    const name = user ? `${user.file}:${user.line}` : "";
    const group = lines.get(name);
    if (group) group.push(pile);
    else lines.set(name, [pile]);
  }
  return [...lines.values()]
    .map((group) => {
      const ids = group.flatMap((pile) => pile.ids.filter((id) => lives.died[id]! > ends[last]!));
      const heldByStep = Array.from({ length: last }, (_, at) =>
        group.reduce((sum, pile) => sum + pile.held[at + 1]!, 0),
      );
      return {
        user: keeper(tape, lives, ids[0]!),
        perStep: Math.round((heldByStep.at(-1)! - heldByStep[0]!) / (last - 1)),
        held: heldByStep.at(-1)!,
        count: ids.length,
        heldByStep,
        sites: bySite(tape, lives, ids),
      };
    })
    .sort((a, b) => b.held - a.held);
}

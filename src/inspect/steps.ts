import type { Tape } from "../tape/tape.ts";
import { Action, Phase } from "../tape/vocabulary.ts";
import { StackClass } from "./stack-class.ts";

/** A span the recorder marked: PyTorch marks "Optimizer.step#AdamW.step". Times in microseconds, as the tape's. */
export interface Mark {
  readonly stage: string;
  readonly name: string;
  readonly time: number;
}

/** Phases that a stack's class names outright. */
const NAMED: readonly number[] = (() => {
  const phases: number[] = [];
  phases[StackClass.forward] = Phase.forward;
  phases[StackClass.loss] = Phase.loss;
  phases[StackClass.backward] = Phase.backward;
  phases[StackClass.clip] = Phase.clip;
  phases[StackClass.optimizer] = Phase.optimizer;
  phases[StackClass.zeroGrad] = Phase.optimizer;
  phases[StackClass.evaluation] = Phase.evaluation;
  phases[StackClass.save] = Phase.save;
  return phases;
})();

/** Rows the reader put before the first event, for what a full ring buffer had already forgotten. */
export function preludeLength(tape: Tape): number {
  if (!tape.info.truncated) return 0;
  const { time } = tape.columns;
  let row = 0;
  while (row < tape.length && time[row] === time[0]) row++;
  return row;
}

/**
 * Fills the tape's step and phase columns. A step ends with the optimizer's: what follows (zeroing gradients
 * included) stays in it until something is allocated again.
 */
export function markSteps(tape: Tape, classes: Uint8Array, marks: readonly Mark[]): void {
  const { action, stack, time, phase, step } = tape.columns;
  const spans = optimizerSpans(marks);
  const prelude = preludeLength(tape);
  const hasFrames = classes.some((one) => one !== StackClass.frameless);
  const freesHaveFrames = anyFreeHasFrames(tape, classes);
  // An optimizer that allocates nothing then leaves no trace: count a forward after a backward as the next step.
  const unseen = hasFrames && spans.length === 0 && !freesHaveFrames;

  // Steps that ended before the recording begins are none of its own.
  let span = spans.filter(({ end }) => prelude < tape.length && end < time[prelude]!).length;
  let current: number = hasFrames && prelude === 0 ? Phase.load : Phase.unknown;
  let number = hasFrames && prelude === 0 ? 0 : 1;
  let stepped = false;
  let backwardSince = false;
  for (let row = prelude; row < tape.length; row++) {
    while (span < spans.length && spans[span]!.end < time[row]!) {
      span++;
      stepped = true;
    }
    const marked = span < spans.length && spans[span]!.start <= time[row]!;
    const kind = classes[stack[row]!]!;
    const allocates = action[row] === Action.alloc;
    let here = marked ? Phase.optimizer : NAMED[kind];
    if (here === undefined) {
      const autograd =
        kind === StackClass.frameless && hasFrames && number > 0 && (allocates || freesHaveFrames);
      here = autograd ? Phase.backward : current;
    }
    const named = NAMED[kind];
    if (unseen && backwardSince && kind === StackClass.forward) stepped = true;
    const optimizing = marked || named === Phase.optimizer || named === Phase.clip;
    if (allocates && stepped && !optimizing) {
      number++;
      stepped = false;
      backwardSince = false;
      // The next batch, most likely: nothing else says so.
      if (named === undefined && kind !== StackClass.frameless) here = Phase.forward;
    }
    if (number === 0 && kind === StackClass.forward) number = 1;
    if (here === Phase.backward) backwardSince = true;
    if (kind === StackClass.optimizer || (kind === StackClass.zeroGrad && backwardSince)) stepped = true;
    // Without frames a span's end is seen only by its clock.
    if (!hasFrames && !marked) here = Phase.unknown;
    current = here;
    phase[row] = here;
    step[row] = number;
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function optimizerSpans(marks: readonly Mark[]): Span[] {
  const spans: Span[] = [];
  let start = -1;
  for (const mark of marks) {
    if (!mark.name.startsWith("Optimizer.step#")) continue;
    if (mark.stage === "START") start = mark.time;
    else if (start >= 0) {
      spans.push({ start, end: mark.time });
      start = -1;
    }
  }
  return spans.sort((a, b) => a.start - b.start);
}

function anyFreeHasFrames(tape: Tape, classes: Uint8Array): boolean {
  const { action, stack } = tape.columns;
  for (let row = 0; row < tape.length; row++) {
    const frees = action[row] === Action.free || action[row] === Action.free_requested;
    if (frees && classes[stack[row]!] !== StackClass.frameless) return true;
  }
  return false;
}

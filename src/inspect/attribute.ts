import { lifetimes, type Lifetimes } from "../tape/lifetimes.ts";
import type { Tape } from "../tape/tape.ts";
import { modulePath, parseStack } from "./frames.ts";
import { markKinds } from "./kinds.ts";
import { classify } from "./stack-class.ts";
import { restorePrediction } from "./prediction.ts";
import { type Mark, markSteps } from "./steps.ts";

/**
 * A recording knows sizes, times and stacks. This fills in what it does not know: step, phase, kind and module of
 * every row, in place. Each distinct stack is looked at once; rows only carry its number.
 */
export function attribute(tape: Tape, marks: readonly Mark[]): Lifetimes {
  if (restorePrediction(tape)) return lifetimes(tape);
  const { stack, module } = tape.columns;
  const classes = new Uint8Array(tape.stacks.size);
  const modules = new Int32Array(tape.stacks.size);
  tape.stacks.texts.forEach((text, id) => {
    const frames = parseStack(text);
    classes[id] = classify(frames);
    modules[id] = tape.modules.id(modulePath(frames));
  });
  markSteps(tape, classes, marks);
  const lives = lifetimes(tape);
  markKinds(tape, lives, classes);
  for (let row = 0; row < tape.length; row++) module[row] = modules[stack[row]!]!;
  return lives;
}

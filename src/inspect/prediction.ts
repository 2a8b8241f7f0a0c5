import type { Tape } from "../tape/tape.ts";
import { Action, KINDS, PHASES } from "../tape/vocabulary.ts";

/** "transformer.h.0.mlp:2:forward activation": what `plan --snapshot` writes as the one frame of a predicted row. */
const PREDICTED = new RegExp(`^([^\\n]*):(\\d+):(${PHASES.join("|")}) (${KINDS.join("|")})$`);
const NO_MODULE = "(no module)";

/** Where every stack is one of those, gives the rows their module, step, phase and kind back. */
export function restorePrediction(tape: Tape): boolean {
  const texts = tape.stacks.texts.slice(1);
  const parsed = texts.map((text) => PREDICTED.exec(text));
  if (parsed.length === 0 || parsed.includes(null)) return false;
  const { action, stack, module, step, phase, kind } = tape.columns;
  const known = parsed.map((match) => {
    const [, name, number, when, what] = match!;
    return {
      module: name === NO_MODULE ? 0 : tape.modules.id(name!),
      step: Number(number),
      phase: PHASES.indexOf(when as (typeof PHASES)[number]),
      kind: KINDS.indexOf(what as (typeof KINDS)[number]),
    };
  });
  for (let row = 0; row < tape.length; row++) {
    // A segment's row has no frame: it was taken for the block behind it, and given back for the one before.
    const owner = stack[row] !== 0 ? row : action[row] === Action.segment_alloc ? row + 1 : row - 1;
    const here = known[(stack[owner] ?? 0) - 1];
    if (!here) continue;
    module[row] = owner === row ? here.module : 0;
    step[row] = here.step;
    phase[row] = here.phase;
    kind[row] = owner === row ? here.kind : 0;
  }
  return true;
}

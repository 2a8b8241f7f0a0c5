import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { handedToKeepers } from "./keepers.ts";
import { candidates, isMaybeNumber } from "./kept.ts";
import type { Candidate } from "./kept.ts";
import { bringsGraph } from "./likely-graphs.ts";
import { isOlderThan } from "./likely-puts.ts";
import { isNetwork } from "./networks.ts";
import { loopsAround, optimizerSteps } from "./training.ts";
import type { Loop } from "./training.ts";

/** `total += loss` in an evaluation that records: no backward frees what each of its batches has saved. */
export function recordedKeeps(facts: Facts): readonly Candidate[] {
  return facts.guesses ? facts.once(allRecorded) : [];
}

/** `meter.update(loss)` there, of a meter that adds it up. */
export function* recordedArguments(facts: Facts): Generator<{ readonly added: Expr; readonly into: string }> {
  if (!facts.guesses) return;
  for (const { call, arg } of handedToKeepers(facts, "sum"))
    if (isRecordedAt(call, facts) && bringsGraph(arg, facts))
      yield { added: arg, into: facts.file.textOf(call.func) };
}

function allRecorded(facts: Facts): readonly Candidate[] {
  return [...candidates(facts)].filter(
    (one) =>
      one.root.kind === "Name" &&
      isRecordedAt(one.at, facts) &&
      isOlderThan(one.root, loopsAround(one.at)[0]!, facts) &&
      !isMaybeNumber(one.added) &&
      bringsGraph(one.added, facts),
  );
}

/** In each turn of a loop over batches that runs a network in eval mode with gradients recorded, and differentiates nothing. */
function isRecordedAt(at: Candidate["at"], facts: Facts): boolean {
  const { backwards, file } = facts;
  const [loop] = loopsAround(at);
  const fn = functionOf(at);
  if (loop?.kind !== "For" || fn?.kind !== "FunctionDef" || facts.gradMode(at) !== "on") return false;
  if (!/load|batch|data|dl\b|valid|val_|test|iter/i.test(file.textOf(loop.iter))) return false;
  const inside = ({ start, end }: Call): boolean => start >= fn.start && end <= fn.end;
  if (backwards.some(({ call }) => inside(call)) || file.once(optimizerSteps).some(inside)) return false;
  return switchesBefore(loop, fn, facts) && runsRecorded(loop, facts);
}

/** `model.eval()` above the loop, in the function itself; and nobody there freezes it or asks for a gradient. */
function switchesBefore(loop: Loop, fn: FunctionDef, { file }: Facts): boolean {
  return (
    file
      .callsNamed("eval")
      .some((call) => functionOf(call) === fn && call.end < loop.start && call.args.length === 0) &&
    !/requires_grad|autograd|no_grad\b|set_grad_enabled|inference_mode|\.train\(\)\s*\n\s*for/.test(
      file.codeOf(fn),
    ) &&
    !file.says(/volatile/)
  );
}

function runsRecorded(loop: Loop, facts: Facts): boolean {
  const runs = facts.file
    .all("Call")
    .filter(
      (call) =>
        contains(loop, call) && isNetwork(call.func, facts) && !/loss|crit/i.test(lastWord(call.func)),
    );
  return runs.length > 0 && runs.every((run) => facts.gradMode(run) === "on");
}

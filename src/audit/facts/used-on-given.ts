import { functionOf, lastWord, namesIn } from "../../python/nodes.ts";
import type { Call, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isPlace } from "./position-tables.ts";

/**
 * In a function that is given a sound besides: `def mel_of(wave, rate, bins)` does something with `wave`. One that is told
 * settings alone makes the filter for those who call it, and they may keep it.
 */
export function isUsedOnGiven(call: Call, { file }: Facts): boolean {
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || fn.decorators.length > 0) return false;
  const settings = new Set(
    call.args.flatMap(({ value }) => (isPlace(value) ? [] : namesIn(value).map(({ id }) => id))),
  );
  const filter = nameOf(call);
  return file
    .all("Name")
    .some(
      (name) =>
        name.id !== "self" &&
        functionOf(name) === fn &&
        !settings.has(name.id) &&
        (isComputedWith(name) || (filter !== null && isAppliedTo(name, filter))) &&
        file.scopes.reaching(name).some(({ how }) => how === "param"),
    );
}

/** `to_mel` of `to_mel = MelSpectrogram(…)`, also moved to where it is used. */
function nameOf(call: Call): string | null {
  let at: Node = call;
  while (at.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call") at = at.parent.parent;
  const [target] = at.parent?.kind === "Assign" ? at.parent.targets : [];
  return target?.kind === "Name" ? target.id : null;
}

/** `to_mel(wave)` */
function isAppliedTo({ parent }: Name, filter: string): boolean {
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return call?.kind === "Call" && call.func.kind === "Name" && call.func.id === filter;
}

/** `wave.unsqueeze(1)`, `mel @ spec`, `torch.stft(wave, …)`; of `like.device` nothing is computed. */
function isComputedWith(name: Name): boolean {
  const { parent } = name;
  if (parent?.kind === "Attribute")
    return (
      parent.parent?.kind === "Call" && parent.parent.func === parent && !/^(?:get|pop)$/.test(parent.attr)
    );
  if (parent?.kind === "Binary") return parent.op === "@";
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return (
    call?.kind === "Call" &&
    (call.func.kind === "Call" || /^(?:stft|matmul|mm|bmm|einsum|pad|abs|log)$/.test(lastWord(call.func)))
  );
}

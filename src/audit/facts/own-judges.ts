import { isTrue, keyword } from "../../python/file.ts";
import { classOf, contains, functionOf } from "../../python/nodes.ts";
import type { Call, ClassDef } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { TRAINED } from "./left-out.ts";
import { outermost } from "./optimised.ts";

/** A network that others trained, which a class keeps to compare two things by, and where it is first run. */
export interface OwnJudge {
  readonly made: Call;
  readonly run: Call;
  readonly network: string;
}

const NAMED = /percept|vgg|lpips|judge|style|content|feat(?:ure)?_?(?:net|extract)|extractor/i;

/** What is asked for its parameters, or switched, may learn or be frozen. */
const SWITCHED = /^(?:parameters|named_parameters|requires_grad_?|modules|children|apply|train|state_dict)$/;

/**
 * `self.features = vgg16(weights="DEFAULT").features[:16].eval()` of any class, and `mse(self.features(made), self.features(real))`
 * in one of its methods: what learns is run once for each example, what judges is run on both sides.
 */
export function* ownJudges(facts: Facts): Generator<OwnJudge> {
  const { file } = facts;
  for (const made of [
    ...file.calls.given(["pretrained", "weights"]),
    ...file.callsNamed("from_pretrained"),
  ]) {
    if (!TRAINED.test(file.dotted(made.func) ?? "") || !isTrainedByOthers(made)) continue;
    const whole = outermost(made);
    const [target, ...more] = whole.parent?.kind === "Assign" ? whole.parent.targets : [];
    const own = target && more.length === 0 ? selfAttribute(target) : null;
    const cls = own === null ? null : classOf(made);
    if (!cls || attributesOf(cls, file).get(own!)?.writes.length !== 1) continue;
    const uses = file.all("Attribute").filter((one) => contains(cls, one) && selfAttribute(one) === own);
    if (uses.some(({ parent }) => parent?.kind === "Attribute" && SWITCHED.test(parent.attr))) continue;
    const evaluated =
      /\.eval\(\)/.test(file.textOf(whole)) ||
      uses.some(({ parent }) => parent?.kind === "Attribute" && parent.attr === "eval");
    if (!evaluated && !NAMED.test(own!)) continue;
    // Handed to anyone, it may be frozen there.
    if (uses.some(({ parent }) => parent?.kind === "Arg") || freezesAll(cls, facts)) continue;
    const runs = uses.flatMap(({ parent: call, start }) =>
      call?.kind === "Call" && call.func.start === start && selfAttribute(call.func) === own ? [call] : [],
    );
    const run = runs.find((one) => isOnBothSides(one, runs, facts));
    if (run) yield { made, run, network: `self.${own}` };
  }
}

function isTrainedByOthers(made: Call): boolean {
  const asked = keyword(made, "pretrained")?.value;
  return !asked || isTrue(asked);
}

/** Run again in the same method on something else, and neither of the two without recording. */
function isOnBothSides(run: Call, runs: readonly Call[], facts: Facts): boolean {
  const { file } = facts;
  const records = (one: Call): boolean =>
    lexicalGrad(one, file) === null && facts.gradMode(one) !== "off" && one.args.length > 0;
  const given = (one: Call): string => file.textOf(one.args[0]!.value);
  return (
    records(run) &&
    runs.some(
      (other) =>
        other.start > run.start && functionOf(other) === functionOf(run) && given(other) !== given(run),
    )
  );
}

/** `for p in self.parameters(): p.requires_grad = False`, in whichever method. */
function freezesAll(cls: ClassDef, { file }: Facts): boolean {
  return /requires_grad|freeze|frozen/i.test(file.codeOf(cls));
}

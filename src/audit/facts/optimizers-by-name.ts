import type { PythonFile } from "../../python/file.ts";
import type { Expr } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import { optimizerSteps } from "./training.ts";

/** `optimizer` of `optimizer.step()` and of `scaler.step(optimizer)`. */
type SteppedBy = (step: ReturnType<typeof optimizerSteps>[number]) => Expr;

/** `gen_optimizer`, `optimizer_G`, `optimD`, `self.dis_opt`: what is left is whose it is. */
const OPTIMIZER =
  /^_*(?:(\w+?)_?(?:optimi[sz]er|optim|opt)|(?:optimi[sz]er|optim|opt)_?(\w+?))_*$|^(\w+?)(?:Optimi[sz]er|Optim|Opt)$/;

/** `gen_net`, `netG`, `net_g`, `model_G`, `critic_model`. */
const NETWORK =
  /^_*(?:(\w+?)_?(?:network|net|model)|(?:network|net|model)_?(\w+?))_*$|^(\w+?)(?:Net|Network|Model)$/;

/** The roles of adversaries have short and long names. */
const ROLES: Readonly<Record<string, string>> = {
  g: "g",
  gen: "g",
  generator: "g",
  d: "d",
  dis: "d",
  disc: "d",
  discr: "d",
  discriminator: "d",
};

/**
 * `gen_optimizer` and `dis_optimizer`, which a function or a class is handed together with `gen_net` and `dis_net`: which
 * network each steps for is told by their names, where one alone has that name.
 */
export function networksByName(
  file: PythonFile,
  steppedBy: SteppedBy,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  const whose = new Map<string, string>();
  for (const step of optimizerSteps(file)) {
    const by = steppedBy(step);
    const stem = stemOf(by, OPTIMIZER);
    if (stem !== null) whose.set(file.textOf(by), stem);
  }
  if (new Set(whose.values()).size < 2) return found;
  const networks = new Map<string, string>();
  for (const { func } of file.all("Call")) {
    const stem = stemOf(func, NETWORK);
    if (stem !== null) networks.set(file.textOf(func), stem);
  }
  const called = (is: (stem: string) => boolean): readonly string[] =>
    [...networks].flatMap(([text, stem]) => (is(stem) ? [text] : []));
  for (const [optimizer, stem] of whose) {
    const role = ROLES[stem];
    const same = called((one) => one === stem);
    const named = same.length > 0 ? same : called((one) => role !== undefined && ROLES[one] === role);
    if (named.length === 1) found.set(optimizer, new Set(named));
  }
  return found;
}

/** Of a name, or of what is kept on self. */
function stemOf(expr: Expr, form: RegExp): string | null {
  const name = expr.kind === "Name" ? expr.id : selfAttribute(expr);
  if (name === null) return null;
  const [, before, after, joined] = form.exec(name) ?? [];
  return (before ?? after ?? joined ?? name).toLowerCase();
}

import { contains, functionOf, lastWord, namesIn } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Lambda, Name } from "../../python/tree.ts";
import { feedsBackward, isMadeOf } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { switches } from "./freezing.ts";
import { handedIn } from "./handed-in.ts";
import type { LeftOut } from "./left-out.ts";
import { optimizerSteps } from "./training.ts";

/** What makes an optimizer, of whatever library or one's own: `set_optimizer(options, head)`. */
const MAKES = /optim|^(?:\w*Adam\w*|SGD|RMSprop|Ada\w+|Lion|LAMB|Lamb|LARS|ASGD|Muon|Prodigy)$/i;

/** What networks are asked, and losses and tokenizers hardly ever are. */
const ASKED = "eval|train|cuda|half|encoder|backbone|load_state_dict";

/**
 * `optimizer = set_optimizer(options, head)`, and `head(trunk(x))` with gradients in the step: of what is handed to the maker, by
 * whatever name it comes to the step, the trunk is none, and nothing here freezes it.
 */
export function* likelyLeftOut(facts: Facts): Generator<LeftOut> {
  const { file, guesses } = facts;
  if (!guesses || facts.backwards.length === 0 || switches(file)) return;
  for (const fn of new Set(facts.backwards.map(({ call }) => functionOf(call)))) {
    const makers = fn ? makersFor(fn, facts) : [];
    const trained = new Set(makers.flatMap(({ args }) => args.flatMap(({ value }) => idsIn(value))));
    if (trained.size === 0) continue;
    for (const call of file.all("Call")) {
      const trunk = functionOf(call) === fn ? ranRoot(call) : null;
      const loop = trunk && facts.stepLoop(call);
      if (!loop || facts.gradMode(call) !== "on") continue;
      // What comes with each turn is data: `images.cuda()`.
      if (facts.file.scopes.reaching(trunk).some(({ node }) => contains(loop, node))) continue;
      const own = cameAs(trunk, facts);
      if (own.length === 0 || own.some(({ id }) => trained.has(id))) continue;
      if (!isAskedAsNetwork([trunk, ...own], facts) || isMixedIn(own, [...trained], facts)) continue;
      // The head runs on what the trunk made: it does not hold the trunk.
      const heads = file
        .all("Call")
        .filter(
          ({ func, args }) =>
            func.kind === "Name" &&
            functionOf(func) === fn &&
            cameAs(func, facts).some(({ id }) => trained.has(id)) &&
            args.some(({ value }) => isMadeOf(value, call, facts)),
        );
      if (heads.some((head) => feedsBackward(head, facts)) && feedsBackward(call, facts))
        yield { run: call, network: trunk.id };
    }
  }
}

/** The calls that make the optimizers which a function steps; none where anything else may be one of them. */
function makersFor(fn: FunctionDef | Lambda, facts: Facts): readonly Call[] {
  const steps = optimizerSteps(facts.file).filter((step) => functionOf(step) === fn);
  const makers = steps.flatMap(({ func, args }) => {
    // `scaler.step(optimizer)`
    const stepped = args[0]?.value ?? (func.kind === "Attribute" ? func.value : null);
    const names = stepped?.kind === "Name" ? cameAs(stepped, facts) : [];
    const made = names.flatMap((name) => facts.file.scopes.reaching(name));
    return made.length === 0
      ? [null]
      : made.map(({ how, value }) =>
          how === "assign" && value?.kind === "Call" && MAKES.test(lastWord(value.func)) ? value : null,
        );
  });
  return makers.every((one) => one !== null) ? makers : [];
}

/** What the calls in this file give for a parameter, or the name itself where it is none. */
function cameAs(name: Name, { file }: Facts): readonly Name[] {
  const [one, ...more] = file.scopes.reaching(name);
  // No module: `torch.randint(…)`.
  if (one?.how !== "param") return one?.how === "assign" || one?.how === "unpack" ? [name] : [];
  const given = more.length === 0 ? handedIn(one, file, false) : [];
  return given.every((value): value is Name => value.kind === "Name") ? given : [];
}

/** `trunk` of `trunk(x)`, `trunk.encoder(x)` and `trunk.module.encoder(x)`. */
function ranRoot({ func }: Call): Name | null {
  let at: Expr = func;
  while (at.kind === "Attribute") at = at.value;
  return at.kind === "Name" && !/loss|crit|token|process|optim/i.test(at.id) ? at : null;
}

/** `trunk.eval()` in the step's function, or where it is made. */
const isAskedAsNetwork = (names: readonly Name[], facts: Facts): boolean =>
  names.some(
    (name) =>
      facts.networks.is(name) ||
      new RegExp(`\\b${name.id}\\.(?:${ASKED})\\b`).test(
        facts.file.codeOf(functionOf(name) ?? facts.file.tree.module),
      ),
  );

/** `head = Head(trunk)`, `params = trunk.parameters()`, `add_to(optimizer, trunk)`: what is trained may have it as well. */
function isMixedIn(own: readonly Name[], trained: readonly string[], { file }: Facts): boolean {
  const names = own.map(({ id }) => id).join("|");
  const of = `\\b(?:${names})\\b`;
  // Or it is stepped itself, as an engine is.
  return (
    new RegExp(
      `\\b(?:${names})(?:\\.\\w+)*\\.(?:(?:named_)?parameters|step|backward)\\(|optim\\w*\\([^\\n]*${of}`,
      "i",
    ).test(file.code) ||
    trained.some((id) =>
      new RegExp(`^[ \\t]*${id}(?:\\.\\w+)*[ \\t]*=[^=\\n]*${of}|\\b${id}\\.\\w+\\([^\\n]*${of}`, "m").test(
        file.code,
      ),
    )
  );
}

const idsIn = (expr: Expr): readonly string[] => namesIn(expr).map(({ id }) => id);

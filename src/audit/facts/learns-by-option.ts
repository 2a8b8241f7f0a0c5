import { contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Expr, Name, Stmt } from "../../python/tree.ts";
import { optionBehind } from "./behind-options.ts";
import type { Behind } from "./behind-options.ts";
import { feedsBackward } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { isFrozenInTurn } from "./freezing.ts";
import { makesOptimizer } from "./optimised.ts";
import { paramGiven } from "./returns.ts";
import { turnedBy } from "./turned-functions.ts";

/** A run, for a loss, of a network that learns with an option alone. */
export interface LearnsByOption {
  readonly run: Call;
  readonly network: string;
  /** "only with `args.train_encoder`, off by default" */
  readonly why: string;
}

/**
 * `if args.train_encoder: params += list(encoder.parameters())`, where that is off by default: without it the encoder is only left
 * out of the optimizer, and nothing here freezes it.
 */
export function* learnByOption(facts: Facts): Generator<LearnsByOption> {
  const { file } = facts;
  const asked = file.callsNamed("parameters", "named_parameters");
  // Adapters freeze what they are put on.
  if (asked.length < 2 || facts.backwards.length === 0 || file.says(/peft|lora/i)) return;
  const seen = new Set<string>();
  for (const { func } of asked) {
    const network = func.kind === "Attribute" && func.value.kind === "Name" ? func.value : null;
    if (!network || seen.has(network.id)) continue;
    seen.add(network.id);
    const [option, of] = optionOf(network, asked, facts) ?? [];
    if (!option || !of || mayBeFrozen(of, facts)) continue;
    for (const run of runsOf(of, facts))
      if (facts.gradMode(run) === "on" && feedsBackward(run, facts))
        yield { run, network: (run.func as Name).id, why: option.why };
  }
}

/** Where the training runs it: in the function that made it, or in one that its loop hands it to in each turn. */
function runsOf(network: Name, facts: Facts): readonly Call[] {
  const { file } = facts;
  const home = functionOf(network);
  const isIt = (value: Expr): boolean => value.kind === "Name" && value.id === network.id;
  const here = file
    .callsNamed(network.id)
    .filter((run) => run.func.kind === "Name" && functionOf(run) === home && facts.stepLoop(run) !== null);
  const handed = [...facts.stepLoops].flatMap((loop) =>
    functionOf(loop) === home
      ? file.all("Arg").filter(({ value }) => isIt(value) && contains(loop, value))
      : [],
  );
  const there = handed.flatMap((arg) => {
    const call = arg.parent?.kind === "Call" ? arg.parent : null;
    const param = call && paramGiven(call, arg, file);
    const fn = param?.parent?.kind === "FunctionDef" ? param.parent : null;
    if (!param || !fn || turnedBy(fn, file)?.call !== call) return [];
    return file
      .callsNamed(param.name)
      .filter(
        ({ func }) =>
          func.kind === "Name" &&
          functionOf(func) === fn &&
          file.scopes.reaching(func).every(({ node }) => node === param),
      );
  });
  return [...here, ...there];
}

/** The option behind all that asks for a network's parameters, and the network where an optimizer gets some of them. */
function optionOf(network: Name, asked: readonly Call[], facts: Facts): readonly [Behind, Name] | null {
  const { file, project } = facts;
  const own = asked.filter(
    ({ func }) => func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === network.id,
  );
  const options = own.map((call) => optionBehind(call, file, project));
  const [option] = options;
  const given =
    option && options.every((one) => one !== null) ? own.find((call) => isOptimised(call, facts)) : undefined;
  return option && given?.func.kind === "Attribute" ? [option, given.func.value as Name] : null;
}

/** In what an optimizer is given, or in a list that one of the same function is given. */
function isOptimised(parameters: Call, { file }: Facts): boolean {
  const fn = functionOf(parameters);
  const list = listFilled(statementOf(parameters));
  return file
    .all("Call")
    .some(
      (made) =>
        functionOf(made) === fn &&
        makesOptimizer(made, file) &&
        (contains(made, parameters) ||
          made.args.some(({ value }) => value.kind === "Name" && value.id === list)),
    );
}

/** `params` of `params += list(…)`, of `params.extend(…)`, of `params = chain(…) if … else …`. */
function listFilled(statement: Stmt | null): string | null {
  const filling =
    statement?.kind === "ExprStmt" && statement.value.kind === "Call" ? statement.value.func : null;
  const target =
    statement?.kind === "Assign"
      ? statement.targets[0]
      : statement?.kind === "AugAssign"
        ? statement.target
        : filling?.kind === "Attribute" && /^(?:append|extend)$/.test(filling.attr)
          ? filling.value
          : null;
  return target?.kind === "Name" ? target.id : null;
}

/** Unless it is made here, once, and switched off by nothing that names it. */
function mayBeFrozen(network: Name, facts: Facts): boolean {
  const { file, project } = facts;
  // `encoder = accelerator.prepare(encoder)`, with the option alone.
  const made = (file.scopes.lookup(network)?.definitions ?? []).filter(
    ({ node }) => optionBehind(node, file, project) === null,
  );
  const isMade = made.some(
    ({ how, value }) => how === "assign" && value?.kind === "Call" && lastWord(value.func) !== "prepare",
  );
  const { id } = network;
  return (
    !isMade ||
    made.some(
      ({ how, value }) =>
        (how !== "assign" && how !== "unpack") ||
        (value !== null && /requires_grad|freeze|frozen/i.test(file.textOf(value))),
    ) ||
    facts.networks.isFrozenByFlags(network) ||
    isFrozenInTurn(id, facts) ||
    new RegExp(
      `(?<![\\w.])${id}(?:\\.\\w+)*\\.(?:requires_grad|\\w*freeze)|(?:freeze|requires_grad)\\w*\\([^()\\n]*(?<![\\w.])${id}\\b`,
    ).test(file.code)
  );
}

import { contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Name, Stmt } from "../../python/tree.ts";
import { optionBehind } from "./behind-options.ts";
import type { Behind } from "./behind-options.ts";
import { feedsBackward } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { isFrozenInTurn } from "./freezing.ts";
import { makesOptimizer } from "./optimised.ts";

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
    const option = optionOf(network, asked, facts);
    if (!option || mayBeFrozen(network, facts)) continue;
    for (const run of file.callsNamed(network.id))
      if (
        run.func.kind === "Name" &&
        functionOf(run) === functionOf(network) &&
        facts.stepLoop(run) !== null &&
        facts.gradMode(run) === "on" &&
        feedsBackward(run, facts)
      )
        yield { run, network: network.id, why: option.why };
  }
}

/** The option behind all that asks for a network's parameters, of which an optimizer gets some. */
function optionOf(network: Name, asked: readonly Call[], facts: Facts): Behind | null {
  const { file, project } = facts;
  const own = asked.filter(
    ({ func }) => func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === network.id,
  );
  const options = own.map((call) => optionBehind(call, file, project));
  return options.every((one) => one !== null) && own.some((call) => isOptimised(call, facts))
    ? (options[0] ?? null)
    : null;
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

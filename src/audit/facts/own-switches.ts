import { functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, FunctionDef } from "../../python/tree.ts";
import { MEASURES } from "./evaluation-calls.ts";
import type { Facts } from "./facts.ts";
import { unrecorded } from "./looks.ts";
import { isNetwork } from "./networks.ts";

/** `model.switch_to_eval()`, `nets.set_eval_mode()`: of an object around several networks, which switches them all. */
const SWITCHES =
  /^(?:(?:switch|set|change|turn|go|put)_?(?:(?:in)?to_?|in_?)?|to_?)(?:eval|test|val)(?:uation|idation)?(?:_?mode)?$|^eval_?mode$/i;

/** What by its name is a network among the things that such an object keeps. */
const PART =
  /(?:^|_)(?:\w*net|net_\w+|\w*model|encoder|decoder|backbone|generator|discriminator|mlp|transformer|head|actor|critic)(?:_\w+)?$/i;

/** What a function does that only shows what came of it. */
const SHOWS = /\b(?:save_image|imshow|imsave|savefig|add_images?|make_grid|add_figure|add_scalar)\(/;

/** Calls that switch to evaluation by a word of the program's own. */
export function ownSwitches(file: PythonFile): readonly Call[] {
  return file.calls
    .matching(SWITCHES)
    .filter(({ args, func }) => func.kind === "Attribute" && args.length === 0);
}

/**
 * `model.switch_to_eval(); maps = model.encoder(x); …; model.switch_to_train()`: the first run of what was switched, before it is
 * switched back by the same word. What is handed back somebody may differentiate.
 */
export function ranAfterOwnSwitch(fn: FunctionDef, facts: Facts): Call | null {
  const { file } = facts;
  for (const mode of file.once(ownSwitches)) {
    if (mode.func.kind !== "Attribute" || functionOf(mode) !== fn) continue;
    const owner = file.textOf(mode.func.value);
    const word = mode.func.attr.replace(/(?:eval|test|val)(?:uation|idation)?/i, "train").toLowerCase();
    const below: Call[] = [];
    let handsBack = false;
    walk(fn, (node) => {
      if (node.kind === "Return" && node.value) handsBack = true;
      if (node.kind === "Call" && node.start > mode.end) below.push(node);
    });
    const isOwn = ({ func }: Call): boolean => func.kind === "Attribute" && file.textOf(func.value) === owner;
    const back = below.find(
      (call) => isOwn(call) && call.args.length === 0 && lastWord(call.func).toLowerCase() === word,
    );
    const run = below.find(
      (call) =>
        call.args.length > 0 &&
        call.end < (back?.start ?? 0) &&
        (isOwn(call) ? isRun(call, facts) : file.textOf(call.func) === owner),
    );
    const code = file.codeOf(fn);
    if (run && !handsBack && (MEASURES.test(code) || SHOWS.test(code)) && !unrecorded(run, facts)) return run;
  }
  return null;
}

/** `maps = model.encoder(x)`, and no method that does something to it. */
function isRun(call: Call, facts: Facts): boolean {
  return (
    call.func.kind === "Attribute" &&
    (isNetwork(call.func, facts) || PART.test(call.func.attr)) &&
    !/^(?:save|load|update|set|get|init|build|log|zero)/.test(call.func.attr) &&
    statementOf(call)?.kind === "Assign" &&
    !facts.networks.isFrozenByFlags(call.func)
  );
}

import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Call, Expr, Name, Param } from "../../python/tree.ts";
import { decoratedGrad, lexicalGrad } from "./gradmode.ts";
import { paramGiven } from "./returns.ts";
import { CHANGES } from "./untrained.ts";

/** Of what a call gives to a function of this file, a network that the function runs with gradients recorded: `decode(vae, latents)`. */
export function ranByHelper(call: Call, isIt: (network: Expr) => boolean, file: PythonFile): Expr | null {
  for (const arg of call.args) {
    const { value } = arg;
    if ((value.kind !== "Name" && value.kind !== "Attribute") || arg.star !== 0 || !isIt(value)) continue;
    const param = paramGiven(call, arg, file);
    if (param && runsOfParam(param, file).length > 0) return value;
  }
  return null;
}

/** Where a function runs what it is given under a parameter, or a part of that, and records what comes of it. */
function runsOfParam(param: Param, file: PythonFile): readonly Call[] {
  const definition = file.scopes.definitionAt(param);
  return definition ? file.scopes.uses(definition).flatMap((use) => runOf(use, file) ?? []) : [];
}

/** `net(x)`, `vae.decode(z)`, `vae.decoder(z)` */
function runOf(use: Name, file: PythonFile): Call | null {
  let at: Expr = use;
  while (at.parent?.kind === "Attribute" && at.parent.value === at) at = at.parent;
  const call = at.parent?.kind === "Call" && at.parent.func === at ? at.parent : null;
  if (!call || call.args.length === 0 || (at.kind === "Attribute" && CHANGES.test(at.attr))) return null;
  const fn = functionOf(use);
  const decorated = fn?.kind === "FunctionDef" ? decoratedGrad(fn, file) : null;
  return lexicalGrad(call, file) === "off" || decorated === "off" ? null : call;
}

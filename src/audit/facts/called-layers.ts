import { classOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { attributesOf, isModuleRole, isOnlyMadeBy, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isParam } from "./own-layers.ts";
import { makesTransform } from "./torch-names.ts";

/** `self.normalize = transforms.Normalize(mean, std)` */
export function isTransform(callee: Expr, { file }: Facts): boolean {
  return isOnlyMadeBy(callee, file, (made) => makesTransform(file.dotted(made.func) ?? ""));
}

/** `self.head = nn.Linear(64, 10)`, which learns. */
export function hasWeights(callee: Expr, { file, networks }: Facts): boolean {
  return (
    !networks.isFrozen(callee) &&
    isOnlyMadeBy(callee, file, (made) =>
      /^torch\.nn\.(?:Linear|Bilinear|Conv\w+|Embedding\w*|(?:Layer|Group|Batch|RMS)Norm\w*|LSTM|GRU|RNN|Transformer\w+|Sequential)$/.test(
        file.dotted(made.func) ?? "",
      ),
    )
  );
}

export function isOwnLayer(expr: Expr, facts: Facts): boolean {
  return selfAttribute(expr) !== null && facts.value(expr).what === "module";
}

export function isOfModule(expr: Expr, facts: Facts): boolean {
  const cls = classOf(expr);
  return cls !== null && isModuleRole(facts.role(cls));
}

/** `self.encoder = encoder` of a module: a layer, or a function of tensors, that its maker chose. */
export function isHanded(callee: Expr, facts: Facts): boolean {
  const cls = classOf(callee);
  if (!cls || facts.role(cls) !== "module") return false;
  const writes = attributesOf(cls, facts.file).get(selfAttribute(callee)!)?.writes ?? [];
  return (
    writes.length > 0 &&
    writes.every(
      ({ value, in: method }) =>
        method.name === "__init__" &&
        // `self.norm = norm_layer(dim)`
        ((value?.kind === "Name" && isParam(value, method)) ||
          (value?.kind === "Call" && isParam(value.func, method))),
    )
  );
}

/** `self.layer1(x)` where `self.add_module(name, stage)` is all that the class says of it. */
export function isAdded(callee: Expr, facts: Facts): boolean {
  const { file } = facts;
  const cls = classOf(callee);
  const own = selfAttribute(callee)!;
  return (
    cls !== null &&
    isOfModule(callee, facts) &&
    !attributesOf(cls, file).has(own) &&
    !methodsOf(cls).some(({ name }) => name === own) &&
    file
      .callsNamed("add_module", "register_module", "setattr")
      .some((call) => classOf(call) === cls && addsToSelf(call))
  );
}

/** `self.add_module(name, layer)`, `setattr(self, name, layer)` */
function addsToSelf({ func, args }: Call): boolean {
  const to = func.kind === "Attribute" ? func.value : args[0]?.value;
  return to?.kind === "Name" && to.id === "self";
}

/** `for block in self.blocks: x = block(x)`. */
export function isLayerOfLoop(name: Expr & { kind: "Name" }, facts: Facts): boolean {
  const definitions = facts.file.scopes.reaching(name);
  return (
    definitions.length > 0 &&
    definitions.every(({ how, value }) => how === "iterate" && value !== null && readsSelf(value))
  );
}

export function readsSelf(expr: Expr): boolean {
  if (expr.kind === "Call") return expr.args.some((arg) => readsSelf(arg.value));
  if (expr.kind === "Subscript") return readsSelf(expr.value);
  return expr.kind === "Attribute" && (selfAttribute(expr) !== null || readsSelf(expr.value));
}

/**
 * `x = block(x)` of `for block in self.body.blocks[-2:]`, or `self.head(x)`, where `x` was cut off just above, by `detach()` or by
 * running what comes before without recording: who cuts there has the rest learn, and that begins a graph of its own.
 */
export function isTrainedPart({ func, args }: Call, facts: Facts): boolean {
  const given = args[0]?.value;
  return (
    given?.kind === "Name" &&
    isOfModule(func, facts) &&
    facts.file.scopes.reaching(given).some((one) => isCutHere(one, facts)) &&
    mayLearn(func, facts)
  );
}

/** `x = x.detach()`, or `x = self.stem(x)` within `with torch.no_grad():`. */
function isCutHere({ how, node, value }: Definition, facts: Facts): boolean {
  return (
    how === "assign" &&
    value?.kind === "Call" &&
    value.func.kind !== "Lambda" &&
    ((value.func.kind === "Attribute" && value.func.attr === "detach") ||
      (facts.gradMode(node) === "off" && isOfLayers(value.func, facts)))
  );
}

/** A layer of the module, or one that a loop takes from it. */
function isOfLayers(func: Expr, facts: Facts): boolean {
  return func.kind === "Name" ? isLayerOfLoop(func, facts) : isOwnLayer(func, facts);
}

/** Layers of the module that nobody has frozen; of torch's own it is known which have weights. */
function mayLearn(func: Expr, facts: Facts): boolean {
  const { file, networks } = facts;
  if (func.kind !== "Name")
    return (
      isOwnLayer(func, facts) &&
      !networks.isFrozen(func) &&
      !networks.isLoss(func) &&
      !isHanded(func, facts) &&
      !isOnlyMadeBy(func, file, (made) => /^torch(?:vision)?\./.test(file.dotted(made.func) ?? ""))
    );
  const definitions = file.scopes.reaching(func);
  return (
    definitions.length > 0 &&
    definitions.every(({ how, value }) => {
      let of = how === "iterate" ? value : null;
      while (of && selfAttribute(of) === null)
        of = of.kind === "Subscript" || of.kind === "Attribute" ? of.value : null;
      return of !== null && isOwnLayer(of, facts) && !networks.isFrozen(of);
    })
  );
}

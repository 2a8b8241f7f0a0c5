import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, Name } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { isNetwork } from "./networks.ts";
import { loopsAround } from "./training.ts";

/** What a network, or a part of one, is called where nothing else is known of it. */
const NETWORK =
  /^(?:(?:model|net|network|vae|vqvae|vqgan|encoder|decoder|generator|G|netG|teacher|backbone|unet|diffusion)|\w+_(?:model|net|network|encoder|decoder|generator))$/;

/** Methods that run it. */
const RUNS =
  /^(?:forward|encode|decode|encoder|decoder|generate|sample|reconstruct|extract|features|embed|predict|quantize|inverse|reverse)(?:_\w+)?$/;

/** `model(x)`, `model.encoder(x)`, `self.vae.decode(z)` */
function isRun({ args, func }: Call, facts: Facts): boolean {
  if (args.length === 0 || isPlainMethod(func, facts)) return false;
  if (isNetwork(func, facts)) return !facts.networks.isLoss(func) && !facts.networks.isFrozenByFlags(func);
  return (
    func.kind === "Attribute" &&
    RUNS.test(func.attr) &&
    (func.value.kind === "Name" || func.value.kind === "Attribute") &&
    (NETWORK.test(lastWord(func.value)) || isNetwork(func.value, facts)) &&
    !facts.networks.isFrozenByFlags(func.value)
  );
}

/** `self.sample_pdf(bins)`, a method of the class around that runs no layer of it, and so records next to nothing. */
function isPlainMethod(func: Expr, facts: Facts): boolean {
  const own = selfAttribute(func);
  const cls = own === null ? null : classOf(func);
  const method = cls ? methodsOf(cls).find(({ name }) => name === own) : undefined;
  return (
    method !== undefined &&
    !facts.file
      .all("Call")
      .some((call) => contains(method, call) && (isLayer(call.func, facts) || isNetwork(call.func, facts)))
  );
}

/** `self.conv` of `self.conv(x)`, `self.blocks[0]`: a module, by what it is or by being called. */
function isLayer(func: Expr, facts: Facts): boolean {
  const of = func.kind === "Subscript" ? func.value : func;
  const own = selfAttribute(of);
  const cls = own === null ? null : classOf(of);
  return (
    cls !== null &&
    !methodsOf(cls).some(({ name }) => name === own) &&
    attributesOf(cls, facts.file).has(own!)
  );
}

const records = (call: Call, facts: Facts): boolean =>
  facts.gradMode(call) !== "off" && lexicalGrad(call, facts.file) === null;

/**
 * `z = model.encoder(x)` of a step, of which all that goes on is cut off further along, `model.codebook(z).detach()`: what another
 * network has made ready for the one that learns.
 */
export function* likelyCutOff(facts: Facts): Generator<Call> {
  const { file } = facts;
  if (!file.mentions("detach")) return;
  for (const { targets, value } of file.all("Assign")) {
    const [target] = targets;
    if (target?.kind !== "Name" || targets.length > 1 || value.kind !== "Call") continue;
    if (!isRun(value, facts) || !facts.hot(value) || !records(value, facts)) continue;
    const made = file.scopes.definitionAt(target);
    const uses = made ? file.scopes.uses(made) : [];
    if (uses.length > 0 && uses.every((use) => isCutFurtherOn(use))) yield value;
  }
}

/** `z` of `codebook(z).detach()`, and of `z.detach()`. */
function isCutFurtherOn(use: Name): boolean {
  for (const at of ancestors(use)) {
    if (at.kind === "Attribute" && /^(?:detach|data)$/.test(at.attr)) return true;
    if (!/^(?:Arg|Call|Attribute|Subscript|Binary)$/.test(at.kind)) return false;
  }
  return false;
}

/** A picture, or an array, as soon as it is made. */
const LOOKS = /^(?:cpu|numpy|tolist|argmax)$/;

/**
 * `images = model.decode(z).cpu()` outside of the steps of a program that trains here: between its epochs, or in what draws and
 * measures. Who asks for the numbers at once differentiates nothing.
 */
export function* likelyLooked(facts: Facts): Generator<Call> {
  const { file } = facts;
  if (facts.backwards.length === 0) {
    yield* judgedApart(facts);
    return;
  }
  for (const look of file.callsNamed("cpu", "numpy", "tolist", "argmax")) {
    if (look.func.kind !== "Attribute" || !LOOKS.test(look.func.attr)) continue;
    const run = look.func.value;
    if (run.kind !== "Call" || !isRun(run, facts) || facts.hot(run) || !records(run, facts)) continue;
    if (facts.functionFacts(run).callersGradOff !== "never" && functionOf(run) !== null) continue;
    if (loopsAround(run).some((loop) => facts.stepLoops.has(loop))) continue;
    yield run;
  }
}

const JUDGES = /^(?:evaluat|valid|visuali[sz]e|test|render_test|show|plot|preview)/;

/**
 * `def evaluate(model, dataset, device)` in a file of its own, which runs what it is handed and cuts off what comes of it; nobody who
 * calls it has switched recording off.
 */
function* judgedApart(facts: Facts): Generator<Call> {
  const { file } = facts;
  for (const { targets, value } of file.all("Assign")) {
    const fn = value.kind === "Call" && value.func.kind === "Name" ? functionOf(value) : null;
    if (value.kind !== "Call" || value.func.kind !== "Name" || targets.length > 1) continue;
    if (fn?.kind !== "FunctionDef" || !JUDGES.test(fn.name) || fn.parent?.kind !== "Module") continue;
    const { id } = value.func;
    if (!NETWORK.test(id) || !fn.params.some(({ name }) => name === id)) continue;
    if (!records(value, facts) || facts.functionFacts(value).callersGradOff !== "never") continue;
    const [target] = targets;
    const [output] = target?.kind === "Tuple" ? target.items : [target];
    const made = output?.kind === "Name" ? file.scopes.definitionAt(output) : null;
    const uses = made ? file.scopes.uses(made) : [];
    if (uses.length > 0 && uses.every((use) => isCutFurtherOn(use) || isLookedAt(use))) yield value;
  }
}

/** `output` of `output.cpu()`, `output.argmax(1)` */
function isLookedAt({ parent }: Name): boolean {
  return parent?.kind === "Attribute" && LOOKS.test(parent.attr);
}

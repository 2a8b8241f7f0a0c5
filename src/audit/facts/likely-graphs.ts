import { classOf, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, isModuleRole, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { unpackedFrom } from "./inputs.ts";
import { isComputedName } from "./likely.ts";
import { isTelling } from "./likely-numbers.ts";
import { isNetwork } from "./networks.ts";
import { returnsByName } from "./returns.ts";
import { last } from "./torch-names.ts";
import { callTarget } from "./summary.ts";
import { optimizerSteps } from "./training.ts";

/** What brings a graph, and what a loss may still be computed from, as likely as not: by what is written, where no type is known. */

/** What has no graph, whatever it was computed from. */
const CUT =
  /^(?:detach_?|item|tolist|numpy|data|size|shape|dim|ndim|numel|device|dtype|argmax|argmin|argsort|long|int|bool|eq|ne|lt|gt|le|ge|isnan|isinf|isfinite|requires_grad|grad|grad_fn|clone_detached|backward|asnumpy|sample|nonzero|bincount)$/;

/** Functions that count, measure or show what they are given. */
const READS =
  /len|count|size|num|shape|accura|metric|f1|auc|iou|dice_coef|psnr|correct|mask|index|idx|is_|to_np|numpy|detach|print|log_(?:metric|scalar|step|dict)|format|str|fmt|decode|plot|draw|save|load|get_lr|item|reduce_tensor|value|meter|gather/i;

/** What is counted, and has no derivative. */
const COUNTED =
  /(?:acc(?:uracy|uracies|s|\d)?|correct|hits?|counts?|num|iou|miou|psnr|ssim|f1|auc|metrics?|top\d|prec\d?|recall|steps?|epoch|lr)$|^(?:n|num|count)_/;

/** Whether an expression brings the graph it was computed by, and nothing says that it does not. */
export function bringsGraph(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 10 || isPlain(expr, facts)) return false;
  const { graph, what } = facts.value(expr);
  if (graph === "no" || /^(?:number|string|module|optimizer)$/.test(what)) return false;
  const again = (inner: Expr | null, more = 1): boolean =>
    inner !== null && bringsGraph(inner, facts, depth + more);
  switch (expr.kind) {
    case "Name":
      return (
        !COUNTED.test(expr.id) &&
        facts.file.scopes.reaching(expr).some((one) => isWithGraph(one, facts, depth))
      );
    case "Attribute":
      if (CUT.test(expr.attr)) return false;
      return graph === "yes" || isComputedName(expr.attr) || isWrittenWithGraph(expr, facts, depth);
    case "Subscript":
      if (expr.index.kind === "Str" && (COUNTED.test(expr.index.value ?? "") || isCutEntry(expr, facts)))
        return false;
      if (expr.index.kind === "Str" && facts.value(expr.value).what === "unknown")
        return graph === "yes" || isComputedName(expr.index.value ?? "") || again(expr.value);
      return graph === "yes" || again(expr.value);
    case "Binary":
      return again(expr.left) || again(expr.right);
    case "Unary":
      return expr.op !== "not" && again(expr.operand);
    case "IfExp":
      return again(expr.body) || again(expr.orelse);
    case "Bool":
      return expr.op === "or" && expr.values.some((one) => again(one));
    case "Starred":
    case "Await":
      return again(expr.value);
    case "List":
    case "Tuple":
      return expr.items.some((one) => again(one));
    case "Dict":
      return expr.values.some((one) => again(one));
    case "Comp":
      return (
        again(expr.value ?? expr.element) ||
        (expr.element.kind === "Name" && again(expr.clauses[0]?.iter ?? null))
      );
    case "Call":
      return callBrings(expr, facts, depth);
    default:
      return false;
  }
}

/** Somebody computes with tensors here; in a file of arrays and tables nothing has a graph. */
const COMPUTES = /torch|lightning|accelerat|backward|optimi[sz]er/i;

/** `told["loss"]` of `told = json.load(file)`, or anything where no file of tensors is: numbers, whatever they are called. */
export function isPlain(expr: Expr, { file }: Facts): boolean {
  if (!file.says(COMPUTES)) return true;
  let at = expr;
  while (at.kind === "Subscript") at = at.value;
  const made = at.kind === "Name" && at !== expr ? file.scopes.reaching(at) : [];
  return (
    made.length > 0 &&
    made.every(
      ({ value }) =>
        value?.kind === "Call" &&
        /^(?:json|yaml|csv|pickle|numpy|pandas)\./.test(file.dotted(value.func) ?? ""),
    )
  );
}

/** `batch["loss"]` after `batch["loss"] = batch["loss"].detach()`, here or in the function of this file that handed it back. */
export function isCutEntry(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Subscript") return false;
  const { value, index, start } = expr;
  const [one] = value.kind === "Name" ? file.scopes.reaching(value) : [];
  if (!one || index.kind !== "Str") return false;
  const maker = one.value?.kind === "Call" ? file.functionNamed(callTarget(one.value, file)) : null;
  const code = `${file.text.slice(one.node.start, start)}\n${maker ? file.codeOf(maker) : ""}`;
  const key = index.value?.replaceAll(/\W/g, ".");
  return new RegExp(
    `(?:\\[["']${key}["']\\] *=|["']${key}["']:) *(?:[^\\n]*\\.(?:item|detach|cpu|tolist|data)\\b|float\\()`,
  ).test(code);
}

function callBrings(call: Call, facts: Facts, depth: number): boolean {
  const { func } = call;
  const given = (): boolean => call.args.some(({ value }) => bringsGraph(value, facts, depth + 1));
  const word = lastWord(func);
  if (facts.gradMode(call) === "off" || CUT.test(word)) return false;
  const name = facts.file.dotted(func);
  if (name?.startsWith("builtins."))
    return (
      /^builtins\.(?:sum|max|min|list|tuple|dict|zip|enumerate|reversed|abs|next|iter|map)$/.test(name) &&
      given()
    );
  if (name?.startsWith("torch."))
    return (
      !/_like$|^torch\.(?:zeros|ones|full|arange|tensor|empty|rand\w*|load|save|distributed\.\w+|cuda\.\w+|no_grad)$/.test(
        name,
      ) && given()
    );
  if (name !== null && /^(?:numpy|math|random|time|os|json|copy)\./.test(name))
    return name.startsWith("copy.") && given();
  // `log(loss)` of another file that reads what it is given.
  if (facts.callee(call)?.reads === true) return false;
  if (facts.callee(call)?.reachesBackward === true) return facts.value(call).graph === "yes";
  if (facts.value(call).graph === "yes") return true;
  if (isTelling(word)) return false;
  if (facts.networks.isLoss(func) || isNetwork(func, facts) || isCalledAsNetworks(func)) return true;
  const returned = facts.file.once(returnsByName).get(callTarget(call, facts.file) ?? "");
  if (returned) return returned.some((one) => bringsGraph(one, facts, depth + 4));
  if (func.kind === "Attribute" && name === null) {
    if (bringsGraph(func.value, facts, depth + 1)) return true;
    // `self.head(x)`
    if (facts.value(func.value).what === "module") return given();
  }
  return !READS.test(last(word)) && !/^[A-Z]/.test(word) && given();
}

const NETWORK =
  /^(?:\w+_)?(?:critic|actor|policy|[qv]f?|qf?_?net|generator|discriminator|encoder|decoder|backbone|head|predictor|projector|world_model|flow|unet|vae|student|trunk|cell)(?:_?\d)?$/;

/** `self.critic(obs)`, `encoder(x)`: by its name a network, whoever made it. */
export function isCalledAsNetworks(func: Expr): boolean {
  const own = selfAttribute(func) ?? (func.kind === "Name" ? func.id : null);
  return own !== null && NETWORK.test(own);
}

function isWithGraph(one: Definition, facts: Facts, depth: number): boolean {
  const { how, name, node, value } = one;
  const known = facts.valueOfDefinition(one);
  if (known.graph === "no" || /^(?:number|string|module|optimizer)$/.test(known.what)) return false;
  if (/^(?:function|class|import|delete)$/.test(how) || facts.gradMode(node) === "off") return false;
  if (facts.isDifferentiated(one)) return true;
  if (how === "param") return isComputedName(name) && known.what !== "unknown";
  if (value === null) return known.graph === "yes";
  if (how === "iterate") return bringsGraph(value, facts, depth + 1);
  // `loss, shown = step(batch)`: a name for each of what is handed back.
  if (how === "unpack" && value.kind === "Tuple" && one.index !== null && value.items[one.index])
    return bringsGraph(value.items[one.index]!, facts, depth + 1);
  return bringsGraph(value, facts, depth + 1);
}

function isWrittenWithGraph(expr: Expr, facts: Facts, depth: number): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  return (cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : []).some(
    ({ in: method, target, value }) => {
      const written = method.name === "__init__" ? null : (value ?? unpackedFrom(target));
      return written !== null && facts.gradMode(written) !== "off" && bringsGraph(written, facts, depth + 3);
    },
  );
}

/** What a loss is computed from, here: the definitions of names, and the words that attributes and entries are called by. */
interface Wanted {
  readonly definitions: ReadonlySet<Definition>;
  readonly words: ReadonlySet<string>;
}

/** Functions whose result is differentiated by whoever calls them. */
const FOR_LOSS = /loss|forward|step|closure|objective|criter|compute|calc|penal|regular|^reg|__call__/i;

const DIFFERENTIATES =
  /backward|^(?:learn|optimi[sz]e|minimi[sz]e|train_step|step|update)(?:_|$)|(?:^|_)loss(?:es)?(?:_fn)?$|criteri/i;
const SHOWS =
  /meter|metric|bar|writer|logger|sched|stat|avg|average|track|ema|loss(?:es)?$|hist|log|wandb|tqdm|target|monitor|progress|record/i;

/** Everything behind what is differentiated in this file, or handed to who may. */
export function wanted(facts: Facts): Wanted {
  return facts.once(allWanted);
}

function allWanted(facts: Facts): Wanted {
  const { file } = facts;
  const definitions = new Set<Definition>();
  const words = new Set<string>();
  const queue: Expr[] = [...seeds(facts)];
  for (let at = 0; at < queue.length && at < 20_000; at++)
    walk(queue[at]!, (node) => {
      if (node.kind === "Call" && /^(?:detach_?|item|numpy|tolist)$/.test(lastWord(node.func))) return false;
      if (node.kind === "Name" && !file.scopes.binds(node)) {
        for (const one of file.scopes.reaching(node))
          if (!definitions.has(one)) {
            definitions.add(one);
            if (one.value) queue.push(one.value);
          }
        return true;
      }
      const own = node.kind === "Attribute" ? node.attr : null;
      if (own !== null && !words.has(own) && node.parent?.kind !== "Call") {
        words.add(own);
        for (const write of file.all("Assign"))
          if (write.targets.some((target) => target.kind === "Attribute" && target.attr === own))
            queue.push(write.value);
      }
      return true;
    });
  return { definitions, words };
}

function* seeds(facts: Facts): Generator<Expr> {
  const { backwards, file } = facts;
  for (const { loss } of backwards) if (loss) yield loss;
  for (const call of file.callsNamed("grad", "jacobian", "hessian", "vjp"))
    for (const { value } of call.args) yield value;
  for (const one of file.all("Return")) {
    const fn = functionOf(one);
    if (one.value && fn?.kind === "FunctionDef" && isForLoss(fn, facts)) yield one.value;
  }
  for (const call of file.calls.matching(DIFFERENTIATES)) {
    const word = lastWord(call.func);
    if (call.func.kind === "Attribute" && word !== "backward" && SHOWS.test(lastWord(call.func.value)))
      continue;
    for (const { value } of call.args) yield value;
  }
  for (const call of facts.callsTo("loose"))
    if (facts.callee(call)?.reachesBackward === true) for (const { value } of call.args) yield value;
}

/** Hands back what somebody else differentiates: it does not do so itself, and is a network's, or called as losses are. */
function isForLoss(fn: FunctionDef, facts: Facts): boolean {
  const trains = (node: Node): boolean => functionOf(node) === fn;
  if (facts.backwards.some(({ call }) => trains(call)) || facts.file.once(optimizerSteps).some(trains))
    return false;
  const cls = classOf(fn);
  return (
    FOR_LOSS.test(fn.name) || (cls !== null && isModuleRole(facts.role(cls)) && !fn.name.startsWith("on_"))
  );
}

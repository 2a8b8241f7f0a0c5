import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf, namesIn } from "../../python/nodes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isOtherBranch } from "./guards.ts";
import { parts } from "./kept.ts";
import { loopsAround } from "./training.ts";

/** Something put beside what is there already: `kept.append(x)`, `kept += [x]`, `kept = torch.cat([kept, x])`, `kept[key] = x`. */
export interface Put {
  readonly at: Node;
  /** The list, the dictionary, the tensor: a name, or an attribute of something. */
  readonly root: Expr;
  readonly added: Expr;
}

/** Everything in the file that is put beside other things, whatever it is. */
export function puts(facts: Facts): readonly Put[] {
  return facts.once(allPuts);
}

/** Functions that put their last argument into a list of the first: `append_to_dict(kept, "scores", scores)`. */
const HELPERS = /^_?(?:append|add|put|collect|push)(?:_(?:to|into|in))?_(?:dict|list|results?|outputs?)\w*$/;

const LISTS = new Set(["append", "extend", "appendleft", "add", "push", "insert"]);

function allPuts(facts: Facts): readonly Put[] {
  const { file } = facts;
  const found: Put[] = [];
  const put = (at: Node, list: Expr, values: readonly Expr[]): void => {
    const root = rootOf(list);
    if (root)
      for (const value of values) for (const added of parts(value, facts)) found.push({ at, root, added });
  };
  for (const call of file.callsNamed(...LISTS))
    if (call.func.kind === "Attribute" && LISTS.has(call.func.attr) && call.args.length > 0)
      put(
        call,
        call.func.value,
        call.args.slice(call.func.attr === "insert" ? 1 : 0).map(({ value }) => value),
      );
  for (const call of file.calls.matching(HELPERS))
    if (call.args.length > 1) put(call, call.args[0]!.value, [call.args.at(-1)!.value]);
  for (const at of file.all("AugAssign"))
    if (at.op === "+" && (at.value.kind === "List" || at.value.kind === "Tuple"))
      put(at, at.target, [at.value]);
  for (const at of file.all("Assign")) {
    const [target] = at.targets;
    if (!target || at.targets.length > 1) continue;
    if (target.kind === "Subscript" && target.index.kind !== "Slice" && target.index.kind !== "Str")
      put(at, target, [at.value]);
    else if (target.kind === "Name" || target.kind === "Attribute")
      put(at, target, besideItself(at.value, target, file));
  }
  return found;
}

/** `x` of `kept + [x]`, of `torch.cat([kept, x])` and of `torch.cat((kept, x))[-n:]`, where `kept` is what that is bound to. */
function besideItself(value: Expr, target: Expr, file: PythonFile): readonly Expr[] {
  const own = file.textOf(target);
  const isOwn = (expr: Expr): boolean => file.textOf(expr).startsWith(own);
  const whole = value.kind === "Subscript" ? value.value : value;
  if (whole.kind === "Binary")
    return whole.op === "+" && isOwn(whole.left) && whole.right.kind === "List" ? [whole.right] : [];
  const list =
    whole.kind === "Call" && /\.(?:cat|concat|concatenate|[hv]stack)$/.test(file.dotted(whole.func) ?? "")
      ? whole.args[0]?.value
      : undefined;
  if (list?.kind !== "List" && list?.kind !== "Tuple") return [];
  return list.items.some(isOwn) ? list.items.filter((item) => !isOwn(item)) : [];
}

/** `kept` of `kept["scores"]` and of `kept.setdefault(key, [])`; `self.kept`, `args.kept`. */
function rootOf(list: Expr): Expr | null {
  if (list.kind === "Name") return list;
  if (list.kind === "Subscript") return rootOf(list.value);
  if (list.kind === "Attribute")
    return list.value.kind === "Name" || selfAttribute(list) !== null ? list : rootOf(list.value);
  return list.kind === "Call" && list.func.kind === "Attribute" && list.func.attr === "setdefault"
    ? rootOf(list.func.value)
    : null;
}

/** Whether what is filled is there before the loop: not made in its turn. */
export function isOlderThan(root: Expr, loop: Node, { file }: Facts): boolean {
  let name = root;
  while (name.kind === "Attribute") name = name.value;
  if (name.kind !== "Name") return false;
  const made = file.scopes.lookup(name)?.definitions ?? [];
  return !made.some(
    ({ how, node }) =>
      how !== "augment" &&
      how !== "delete" &&
      contains(loop, node) &&
      !isUnderTest(node, loop) &&
      !isOfItself(node, root),
  );
}

/** `if step % 100 == 0: kept = []`: begun anew now and then. */
function isUnderTest(node: Node, loop: Node): boolean {
  return ancestors(node).some((at) => at.kind === "If" && contains(loop, at));
}

/** `kept = torch.cat([kept, x])` begins nothing. */
function isOfItself(node: Node, root: Expr): boolean {
  const assign = ancestors(node).find((at) => at.kind === "Assign");
  return (
    root.kind === "Name" &&
    assign?.kind === "Assign" &&
    namesIn(assign.value).some(({ id }) => id === root.id)
  );
}

/** What a value is computed of, in words: its own, and those of the names in it where this function binds them. */
export function saidOf(expr: Expr, file: PythonFile): string {
  const seen = new Set<Name>();
  const said: string[] = [file.textOf(expr)];
  const queue = namesIn(expr).map((name) => ({ name, depth: 0 }));
  for (const { name, depth } of queue) {
    if (seen.has(name) || seen.size > 40) continue;
    seen.add(name);
    for (const { how, value, node } of file.scopes.reaching(name)) {
      if (value === null || (how !== "assign" && how !== "unpack") || functionOf(node) !== functionOf(name))
        continue;
      said.push(file.textOf(value));
      if (depth < 3) queue.push(...namesIn(value).map((one) => ({ name: one, depth: depth + 1 })));
    }
  }
  return said.join("\n");
}

const JUDGES =
  /eval|valid|(?:^|_)val(?:_|$)|(?:^|_)test|infer|predict|(?:^|_)extract|encode_all|embed_all|score_all/i;
const HELD_OUT = /(?:^|[^a-z])(?:val|valid|validation|dev|eval|test)(?:[_A-Z.]|loader|set|dl|\b)/;

/** Whether a loop judges what is learned elsewhere: without recording, by its function's name, by what it goes through. */
export function isEvaluating(at: Node, facts: Facts): boolean {
  const { file } = facts;
  const [inner] = loopsAround(at);
  if (inner && facts.stepLoops.has(inner)) return isOfOtherPhase(at, inner, facts);
  if (facts.gradMode(at) === "off") return true;
  const fn = functionOf(at);
  if (fn?.kind === "FunctionDef" && JUDGES.test(fn.name) && !/train/.test(fn.name)) return true;
  const [loop] = loopsAround(at);
  if (!loop) return false;
  if (loop.kind === "For" && HELD_OUT.test(file.textOf(loop.iter))) return true;
  const code = file.codeOf(loop);
  return (
    !/backward|\.step\(|optim/.test(code) &&
    (/no_grad|inference_mode/.test(code) || (fn !== null && /\.eval\(\)/.test(file.codeOf(fn))))
  );
}

/** `if phase == "train": loss.backward()`, `else: kept.append(outputs)`, in a loop that goes through both sets of data. */
function isOfOtherPhase(at: Node, loop: Node, { backwards, file }: Facts): boolean {
  const own = backwards.filter(({ call }) => contains(loop, call));
  return (
    own.length > 0 &&
    own.every(({ call }) => isOtherBranch(at, call)) &&
    ancestors(at).some(
      (one) => one.kind === "If" && contains(loop, one) && PHASES.test(file.textOf(one.test)),
    )
  );
}

const PHASES = /^(?:not )?(?:self\.|is_|in_)*(?:train(?:ing)?|phase|mode|split|stage)\b/;

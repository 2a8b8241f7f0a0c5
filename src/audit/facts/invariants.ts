import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Attribute, Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { FUNCTIONS, METHODS } from "./torch-names.ts";

/** The scores of `scores.log_softmax(-1)`. */
export function softened({ func }: Call, { file }: Facts): Expr | null {
  const isMethod =
    func.kind === "Attribute" && /^(?:log_)?softmax$/.test(func.attr) && file.dotted(func) === null;
  return isMethod ? func.value : null;
}

/** Nothing below the call is bound, or may be changed, in the loop. */
export function isInvariant(call: Call, loop: Node, facts: Facts): boolean {
  let same = true;
  let names = 0;
  const scores = softened(call, facts);
  for (const part of [...(scores ? [scores] : []), ...call.args.map(({ value }) => value)])
    walk(part, function look(node): boolean {
      if (!same) return false;
      const again = repeated(node);
      if (again) {
        names++;
        walk(again, look);
        return false;
      }
      if (isBlank(node, facts)) {
        names++;
        return false;
      }
      // Dropout, sampling, a fetch: another result each time.
      if (node.kind === "Call" && !isPure(node, facts)) same = false;
      // Where it is sent does not change.
      if (node.kind === "Attribute" && node.attr === "device") return false;
      // An image that is optimised, kept on self.
      if (node.kind === "Attribute" && isOptimised(node, facts)) same = false;
      // `self.batch`, whatever else of self the loop writes: `self.step += 1`.
      const own = node.kind === "Attribute" ? selfAttribute(node) : null;
      if (own !== null) {
        names++;
        same &&= !isWrittenIn(own, loop, facts);
        return false;
      }
      // What is defined nowhere here comes from outside: another cell, a star import.
      const outside = node.kind === "Name" && facts.file.scopes.lookup(node) === null;
      if (outside && !isCallee(node)) names++;
      if (node.kind === "Name" && !isCallee(node) && facts.file.dotted(node) === null) {
        names++;
        const definitions = facts.file.scopes.lookup(node)?.definitions ?? [];
        const inside = definitions.filter((one) => contains(loop, one.node));
        const [only] = definitions;
        // Made in the loop, of nothing that changes there: `ids = tokenizer([""])`.
        const remade =
          definitions.length === 1 &&
          only?.how === "assign" &&
          only.value !== null &&
          isSame(only.value, loop, facts);
        if ((inside.length > 0 && !remade) || isChanged(node, loop, facts)) same = false;
      }
      return same;
    });
  return same && (names > 0 || call.args.every((arg) => isConstant(arg.value)));
}

/**
 * `[""]` of `[""] * len(images)`, `""` of `["" for _ in range(count)]`, and `style` of `style.expand(count, -1, -1, -1)`: the same,
 * whatever is asked how many of them. A list that is counted out of what turns with the loop is said by its items.
 */
export function repeated(node: Node): Expr | null {
  if (node.kind === "Call") return isSpread(node) ? (node.func as Attribute).value : null;
  if (node.kind === "Binary" && node.op === "*") {
    const list = [node.left, node.right].find((side) => side.kind === "List" && side.items.length > 0);
    return list ?? null;
  }
  const [clause, ...more] = node.kind === "Comp" ? node.clauses : [];
  if (node.kind !== "Comp" || node.value !== null || !clause || more.length > 0) return null;
  const turned = new Set(namesIn(clause.target).map(({ id }) => id));
  return clause.tests.length === 0 && !namesIn(node.element).some(({ id }) => turned.has(id))
    ? node.element
    : null;
}

/** By a number that somebody has to say: to a length that is written down it is one shape. */
function isSpread({ func, args }: Call): boolean {
  return (
    func.kind === "Attribute" &&
    /^(?:expand|expand_as|repeat)$/.test(func.attr) &&
    args.some(({ value }) => namesIn(value).length > 0)
  );
}

/** `self.batch = …`, `self.batch[i] = …` or `self.batch.copy_(…)` in the loop, or in a method of the class that it may call. */
function isWrittenIn(own: string, loop: Node, { file }: Facts): boolean {
  const called = calledFrom(loop, file);
  return file.all("Attribute").some((one) => {
    if (selfAttribute(one) !== own) return false;
    const isCalled = called.some((method) => contains(method, one));
    if (!contains(loop, one) && !isCalled) return false;
    const { parent } = one;
    return (
      (parent?.kind === "Assign" && parent.targets.includes(one)) ||
      (parent?.kind === "Tuple" &&
        parent.parent?.kind === "Assign" &&
        parent.parent.targets.includes(parent)) ||
      isWrittenInto(one)
    );
  });
}

/** The methods that a loop of the class calls, and those that they call: `self.fit()`, which goes around it, is none of them. */
function calledFrom(loop: Node, file: PythonFile): readonly FunctionDef[] {
  const cls = classOf(loop);
  const found: FunctionDef[] = [];
  const left = cls ? methodsOf(cls).filter((method) => !contains(method, loop)) : [];
  for (let from: readonly Node[] = [loop]; from.length > 0;) {
    const asked = new Set(
      file
        .all("Call")
        .filter(({ func }) => from.some((one) => contains(one, func)))
        .map(({ func }) => selfAttribute(func)),
    );
    const next = left.filter((method) => asked.has(method.name) && !found.includes(method));
    found.push(...next);
    from = next;
  }
  return found;
}

/** `torch.zeros_like(x[:1])`, `x.new_ones(n, 3)`: the same numbers, whatever is asked how many of them. */
export function isBlank(node: Node, { file }: Facts): boolean {
  if (node.kind !== "Name") return node.kind === "Call" && isFilled(node, file);
  const [made, ...more] = file.scopes.lookup(node)?.definitions ?? [];
  return (
    made?.how === "assign" &&
    more.length === 0 &&
    made.value?.kind === "Call" &&
    isFilled(made.value, file) &&
    file.scopes.uses(made).every((use) => !isWrittenInto(use))
  );
}

/** `x[0] = 1`, `x.fill_(1)`, `x.requires_grad = True` */
export function isWrittenInto(use: Expr): boolean {
  const part = use.parent?.kind === "Subscript" || use.parent?.kind === "Attribute" ? use.parent : null;
  if (!part || part.value !== use) return use.parent?.kind === "AugAssign";
  const { parent } = part;
  return (
    (parent?.kind === "Assign" && parent.targets.includes(part)) ||
    (parent?.kind === "AugAssign" && parent.target === part) ||
    (part.kind === "Attribute" && /[^_]_$/.test(part.attr)) ||
    (part.kind === "Subscript" && isWrittenInto(part))
  );
}

function isFilled(call: Call, file: PythonFile): boolean {
  const name = file.dotted(call.func);
  const word = lastWord(call.func);
  if (name === null ? !/^new_(?:zeros|ones|full)$/.test(word) : name !== `torch.${word}`) return false;
  // What learns is blank at first.
  if (keyword(call, "requires_grad")) return false;
  if (/^(?:new_)?(?:zeros|ones)(?:_like)?$/.test(word)) return true;
  return (
    /^(?:new_)?full(?:_like)?$/.test(word) &&
    (keyword(call, "fill_value")?.value ?? positional(call, 1))?.kind === "Num"
  );
}

/** `tokenizer([""]).input_ids[0].to(device)`: each call of the chain gives the same in every turn. */
function isSame(value: Expr, loop: Node, facts: Facts): boolean {
  let at = value;
  for (;;) {
    if (at.kind === "Subscript" && !isTurned(at.index, loop, facts)) at = at.value;
    else if (at.kind === "Attribute") at = at.value;
    else if (at.kind === "Call" && at.func.kind === "Attribute" && facts.file.dotted(at.func) === null) {
      if (/tokeniz/i.test(at.func.attr)) break;
      if (!isPure(at, facts) || at.args.some((arg) => isTurned(arg.value, loop, facts))) break;
      at = at.func.value;
    } else break;
  }
  return at.kind === "Call" && isPure(at, facts) && isInvariant(at, loop, facts);
}

/** It has a name that the loop binds; where `batch.device` is, and of what type, does not turn with it. */
function isTurned(expr: Expr, loop: Node, { file }: Facts): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Attribute" && /^(?:device|dtype)$/.test(node.attr)) return false;
    found ||=
      node.kind === "Name" &&
      (file.scopes.lookup(node)?.definitions ?? []).some((one) => contains(loop, one.node));
    return !found;
  });
  return found;
}

function isConstant(expr: Expr): boolean {
  return ["Str", "Call", "Const", "Num", "List", "Tuple"].includes(expr.kind);
}

export function isCallee(node: Node): boolean {
  return node.parent?.kind === "Call" && node.parent.func === node;
}

/** Tokenizing a constant, moving a tensor and computing with it change nothing from turn to turn. */
function isPure(call: Call, facts: Facts): boolean {
  const { func } = call;
  const name = facts.file.dotted(func);
  if (name === null && func.kind === "Attribute" && isComputing(func.attr, METHODS)) return true;
  const computes = /^torch\.(?:nn\.functional\.)?(\w+)$/.exec(name ?? "");
  if (computes && (computes[1] === "interpolate" || isComputing(computes[1]!, FUNCTIONS))) return true;
  if (isScaling(call)) return true;
  return /tokeniz|(?:^|[._])tok$/i.test(facts.file.textOf(call.func).slice(-40));
}

/** What draws nothing, and writes nothing in place. */
function isComputing(word: string, known: ReadonlySet<string>): boolean {
  return (
    /^(?:to|cuda|detach|normalize|size|numel|dim)$/.test(word) ||
    (known.has(word) && !/_$|^(?:bernoulli|multinomial|dropout|requires_grad_)$/.test(word))
  );
}

/** `normalize_batch(style)`, `utils.resize(image, 224)`: a function by whose name the same comes out of the same, whichever file has it. */
export function isScaling({ func }: Call): boolean {
  return /^_?(?:(?:re|un|de)?(?:normali[sz]e|norm|scale)|resize|pad)(?:_(?!rand)\w+)?$/.test(lastWord(func));
}

/** Written to in the loop: `x[i] = …`, `x.add_(…)`, `x.data = …`, or updated by a step as an image that is optimised. */
export function isChanged(
  name: Expr & { kind: "Name" },
  loop: Node,
  facts: Facts,
  part: string | null = partRead(name),
): boolean {
  if (/requires_grad/.test(definitionText(name, facts))) return true;
  if (isLeaf(name.id, facts.file)) return true;
  const own = functionOf(name);
  // What is done with it is asked before where: that takes the way up through the tree.
  return facts.file
    .all("Name")
    .some(
      (node) =>
        node.id === name.id && isWritten(node, part) && contains(loop, node) && functionOf(node) === own,
    );
}

/** `part`: the attribute that is read, where only that one matters. */
function isWritten(node: Name, part: string | null): boolean {
  const { parent } = node;
  if (parent?.kind === "Subscript" && parent.value === node)
    return (
      (parent.parent?.kind === "Assign" && parent.parent.targets.includes(parent)) ||
      (parent.parent?.kind === "AugAssign" && parent.parent.target === parent)
    );
  if (parent?.kind !== "Attribute" || parent.value !== node) return false;
  if (parent.parent?.kind === "Assign" && parent.parent.targets.includes(parent))
    return part === null || part === parent.attr;
  return parent.parent?.kind === "Call" && parent.parent.func === parent && /[^_]_$/.test(parent.attr);
}

/** `x` of `data.x`, which `data.y = …` leaves as it is; a method may read any of them. */
function partRead({ parent }: Expr): string | null {
  return parent?.kind === "Attribute" && !isCallee(parent) ? parent.attr : null;
}

/** An image that is optimised: `Adam([z.requires_grad_()])`; `z.requires_grad = True`; `Adam([z], lr=0.1)`. */
function isLeaf(name: string, file: PythonFile): boolean {
  return file.says(
    new RegExp(
      `\\b${name}\\.requires_grad(?:_\\(\\s*(?:True\\s*)?\\)| ?= ?True\\b)|\\b(?:Adam\\w*|SGD|RMSprop|LBFGS)\\(\\s*\\[(?:[^\\]]*[^\\w.])?${name}\\s*[,\\]]`,
    ),
  );
}

export function isOptimised(expr: Expr, { file }: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.some(({ value }) => value !== null && /requires_grad|Parameter\(/.test(file.textOf(value)));
}

function definitionText(name: Expr & { kind: "Name" }, facts: Facts): string {
  return facts.file.scopes
    .reaching(name)
    .map(({ value }) => (value ? facts.file.textOf(value) : ""))
    .join(" ");
}

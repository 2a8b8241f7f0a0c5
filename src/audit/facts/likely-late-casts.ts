import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { keptType, mayBeWide, narrows, toDevice } from "./kept-types.ts";
import { isAskedForSize } from "./output-uses.ts";
import { loopsAround } from "./training.ts";

/** What is likely float64 and is sent so, as somebody makes it float32 only there, or nobody does. */
export function* castLate(facts: Facts): Generator<Expr> {
  const { file } = facts;
  for (const call of file.callsNamed("from_numpy", "tensor", "as_tensor"))
    if (keptType(call, facts) && mayBeWide(call, facts) && isNarrowedAfter(call, false, facts)) yield call;
  for (const call of file.callsNamed("float")) {
    const part = narrows(call, facts) ? sentPart(call.func.value, facts) : null;
    if ((part && !OTHERS.test(part.name) && hasCastSibling(part, facts)) || isOfEachPart(call, facts))
      yield call;
  }
  for (const { names, within } of takenApart(facts))
    for (const name of names) {
      const column = WEIGHTS.test(name.id) ? sentColumn(name, within, facts) : null;
      if (column) yield column;
    }
}

/**
 * `x, y = map(lambda one: one.to(device).float(), batch)`, `[one.cuda().float() for one in batch]`: who has to cast all that a loader
 * hands out has float64 among it.
 */
function isOfEachPart(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const sent = call.func.kind === "Attribute" && narrows(call, facts) ? call.func.value : null;
  if (sent?.kind !== "Call" || !isSending(sent, facts) || sent.func.kind !== "Attribute") return false;
  const one = sent.func.value;
  const { parent } = call;
  if (one.kind !== "Name") return false;
  const isBatchOf = (over: Expr): boolean =>
    isBatch(over, file) && !OTHERS.test(file.textOf(over)) && facts.hot(over) !== null;
  if (parent?.kind === "Lambda") {
    const map = parent.parent?.kind === "Arg" ? parent.parent.parent : null;
    return (
      parent.params.length === 1 &&
      parent.params[0]!.name === one.id &&
      map?.kind === "Call" &&
      file.dotted(map.func) === "builtins.map" &&
      map.args.length === 2 &&
      isBatchOf(map.args[1]!.value)
    );
  }
  if (parent?.kind !== "Comp" || parent.clauses.length !== 1) return false;
  const [over] = parent.clauses;
  return (
    parent.element === call &&
    over!.target.kind === "Name" &&
    over!.target.id === one.id &&
    over!.tests.length === 0 &&
    isBatchOf(over!.iter)
  );
}

/** The parts of a loader's batch: `for x, y, w in loader:`, `x, y, w = batch`, `x, y, w = next(batches)`. */
function* takenApart({ file }: Facts): Generator<{ readonly names: readonly Name[]; readonly within: Node }> {
  for (const one of file.all("For"))
    if (one.target.kind === "Tuple" && /load|batch|_dl\b/i.test(file.textOf(one.iter)))
      yield { names: namesOf(one.target), within: one };
  for (const one of file.all("Assign")) {
    const [target, ...more] = one.targets;
    const fn = functionOf(one);
    if (target?.kind === "Tuple" && more.length === 0 && fn && isBatch(one.value, file))
      yield { names: namesOf(target), within: loopsAround(one)[0] ?? fn };
  }
}

/** `batch`, `next(batches)`, `batches.next()` */
function isBatch(value: Expr, file: PythonFile): boolean {
  if (value.kind === "Name") return /^(?:\w+_)?batch$/.test(value.id);
  return (
    value.kind === "Call" && lastWord(value.func) === "next" && /iter|batch|load/.test(file.textOf(value))
  );
}

const namesOf = (target: Expr): readonly Name[] =>
  target.kind === "Name" ? [target] : target.kind === "Tuple" ? target.items.flatMap(namesOf) : [];

/**
 * `deltas = torch.from_numpy(rows).to(device)`, of which `deltas.float()` is all that is read, by that name or another; also
 * `deltas = torch.from_numpy(rows)` with `deltas.to(device).float()` below.
 */
function isNarrowedAfter(made: Expr, isSent: boolean, facts: Facts, depth = 0): boolean {
  const { scopes } = facts.file;
  let sent = isSent;
  let at = made;
  while (at.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call" && at.parent.value === at) {
    const call: Call = at.parent.parent;
    if (narrows(call, facts)) return sent && depth > 0;
    sent ||= isSending(call, facts);
    if (!isSending(call, facts) && !SHAPES.test(at.parent.attr)) return false;
    at = call;
  }
  const { parent } = at;
  const [target] = parent?.kind === "Assign" && parent.targets.length === 1 ? parent.targets : [];
  const bound = target?.kind === "Name" && depth < 3 ? scopes.definitionAt(target) : null;
  const uses = bound ? scopes.uses(bound).filter((use) => !isAskedForSize(use)) : [];
  return uses.length > 0 && uses.every((use) => isNarrowedAfter(use, sent, facts, depth + 1));
}

const SHAPES = /^(?:unsqueeze|view|reshape|permute|transpose|squeeze|contiguous|flatten)$/;

/** `x.cuda()`, `x.to(device)` */
function isSending(call: Call, facts: Facts): boolean {
  const { func } = call;
  return func.kind === "Attribute" && (func.attr === "cuda" || (func.attr === "to" && toDevice(call, facts)));
}

/** `batch_x` of `batch_x.to(device)`, as it was handed in or came out of the loader. */
function sentPart(sent: Expr, facts: Facts): Definition | null {
  if (sent.kind !== "Call" || !isSending(sent, facts) || sent.func.kind !== "Attribute") return null;
  const { value } = sent.func;
  const [one, ...more] = value.kind === "Name" ? facts.file.scopes.reaching(value) : [];
  return one && more.length === 0 && isGiven(one) ? one : null;
}

const isGiven = ({ how }: Definition): boolean => how === "param" || how === "iterate" || how === "unpack";

/** What is better sent as the bytes and whole numbers that it is. */
const OTHERS =
  /im(?:g|age)|frame|pixel|pic|photo|video|mask|label|target|token|(?:^|_)(?:ids?|idx|ind\w*|class\w*|len\w*|u8|bytes)(?:_|$)/i;

/** `batch_y.float()` beside `batch_x`: of what comes with it and is called alike, that one is cast where it is. */
function hasCastSibling(part: Definition, facts: Facts): boolean {
  const { file } = facts;
  return file.callsNamed("float").some((call) => {
    const name = call.func.kind === "Attribute" ? call.func.value : call;
    if (!narrows(call, facts) || name.kind !== "Name" || !areAlike(name.id, part.name)) return false;
    const [other, ...more] = file.scopes.reaching(name);
    return (
      other !== undefined &&
      more.length === 0 &&
      isGiven(other) &&
      other.node !== part.node &&
      functionOf(name) !== null &&
      boundWith(other) === boundWith(part)
    );
  });
}

/** The tuple, or the function, that a name is one of the names of. */
function boundWith({ node }: Definition): Node | null {
  let at = node.parent;
  while (at?.kind === "Tuple" && at.parent?.kind === "Tuple") at = at.parent;
  return at;
}

/** `batch_x`, `batch_y`; `x_enc`, `x_dec` */
const areAlike = (a: string, b: string): boolean =>
  a !== b && a.includes("_") && a.slice(0, a.indexOf("_")) === b.slice(0, b.indexOf("_"));

/** What is multiplied with and compared to nothing, so that torch does not complain of two types. */
const WEIGHTS =
  /^(?:w|weights?|probs?|probabilit(?:y|ies)|conf(?:idences?)?|certaint(?:y|ies))(?:_[a-z\d]+)?$|_(?:weights?|probs?|confidences?)$/;

/**
 * `w = w.view(-1, 1)` of `for x, y, w in loader:`, a number for each example, sent and multiplied with as it is: of Python's numbers
 * and of NumPy's the loader makes float64, by which the loss is that too.
 */
function sentColumn(name: Name, loop: Node, facts: Facts): Expr | null {
  const { file } = facts;
  const fn = functionOf(name);
  const uses = file
    .all("Name")
    .filter((one) => one.id === name.id && one !== name && contains(loop, one) && functionOf(one) === fn);
  const code = uses.map((use) => file.textOf(statedAround(use)));
  if (code.some((text) => CAST.test(text))) return null;
  const column = uses.find((use) => isColumn(use, facts));
  const isSent = uses.some(
    ({ parent }) =>
      parent?.kind === "Attribute" && parent.parent?.kind === "Call" && isSending(parent.parent, facts),
  );
  const isFactor = uses.some(
    ({ parent }) =>
      parent?.kind === "Binary" &&
      (parent.op === "*" || (parent.op === "-" && parent.left.kind === "Num" && parent.left.text === "1")),
  );
  return column && isSent && isFactor ? column : null;
}

const CAST = /\.(?:float|half|bfloat16|type|type_as|long|int|bool)\(|dtype|FloatTensor|float32|astype/;

/** What is written in one statement with a use. */
function statedAround(use: Node): Node {
  let at = use;
  while (at.parent && !/^(?:Assign|AugAssign|ExprStmt|Return|If|For|With)$/.test(at.parent.kind))
    at = at.parent;
  return at;
}

/** `w.view(-1, 1)`, `w.unsqueeze(1)`, `w.cuda()[:, None]` */
function isColumn(part: Expr, facts: Facts): boolean {
  const { file } = facts;
  const { parent } = part;
  if (parent?.kind === "Subscript") return /^:, ?None$/.test(file.textOf(parent.index));
  const call = parent?.kind === "Attribute" ? parent.parent : null;
  if (parent?.kind !== "Attribute" || call?.kind !== "Call") return false;
  if (isSending(call, facts)) return isColumn(call, facts);
  const given = call.args.map(({ value }) => file.textOf(value)).join();
  return (
    (/^(?:view|reshape)$/.test(parent.attr) && given === "-1,1") ||
    (parent.attr === "unsqueeze" && /^-?1$/.test(given))
  );
}

import { isNone } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, classOf, contains, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { ClassDef, Expr, If, Name, Stmt } from "../../python/tree.ts";
import { attributesOf, isModuleRole, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** A cache that is asked and never has what it is asked for. */
export interface Unfilled {
  readonly asked: Expr;
  readonly cache: string;
  /** Nothing is put there, or under another key than this; or it stays None, whatever is computed for it here or below. */
  readonly why: "nothing put" | { readonly key: string } | "None here" | "None below" | "never raised";
  /** Of a class that may be no part of a network, or said in so many words that one may be misread. */
  readonly maybe?: boolean;
}

export function* unfilledCaches(facts: Facts): Generator<Unfilled> {
  yield* neverStored(facts);
  const tests = facts.file.all("If").filter((test) => facts.mayBeHot(test));
  yield* storedElsewhere(tests, facts);
  yield* neverReturned(tests, facts);
  yield* neverKept(tests, facts);
  yield* neverRaised(tests, facts);
}

/** `if length > self.cached_length: self.build(length)` of one that begins with nothing, and that nobody raises. */
function* neverRaised(tests: readonly If[], facts: Facts): Generator<Unfilled> {
  const { file } = facts;
  for (const test of tests) {
    const { test: asked } = test;
    const right = asked.kind === "Compare" && asked.rights.length === 1 ? asked.rights[0] : null;
    if (asked.kind !== "Compare" || !right) continue;
    const own =
      asked.ops[0] === ">" ? selfAttribute(right) : asked.ops[0] === "<" ? selfAttribute(asked.left) : null;
    const cls = own === null ? null : classOf(test);
    if (!cls || !isModuleRole(facts.role(cls)) || !facts.hot(test)) continue;
    const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
    const begins =
      writes.length > 0 &&
      writes.every(
        ({ in: within, how, value }) => within.name === "__init__" && how === "assign" && isNothing(value),
      );
    const computes = test.body.some((one) => /\bself\.\w+\(|torch\./.test(file.textOf(one)));
    if (begins && computes && !isSetOutside(own!, cls, file))
      yield { asked, cache: `self.${own}`, why: "never raised" };
  }
}

function isNothing(value: Expr | null): boolean {
  const bare = value?.kind === "Unary" && value.op === "-" ? value.operand : value;
  return bare?.kind === "Num" && (bare.text === "0" || bare !== value);
}

/** `if key not in self.cache: …`, or what is caught, that computes what is missing and never puts it there. */
function* neverStored(facts: Facts): Generator<Unfilled> {
  for (const { asked, cache } of caught(facts)) {
    if (cache.kind === "Name" && isNeverPut(cache, facts) && facts.hot(asked))
      yield { asked, cache: cache.id, why: "nothing put", maybe: true };
    else if (selfAttribute(cache) !== null) yield* neverStoredOnSelf(asked, cache, facts);
  }
  for (const test of facts.file.all("If")) {
    const { test: asked } = test;
    if (asked.kind !== "Compare" || !asked.rights[0]) continue;
    const [op] = asked.ops;
    const got = /^is(?: not)?$/.test(op!) && isNone(asked.rights[0]) ? gotten(asked.left, facts) : null;
    const cache = got ?? asked.rights[0];
    // `if n in self.cache: return self.cache[n]` says the same, and so does `if table is not None: return table`.
    const hit = got ? op === "is not" && isLeft(test) : op === "in" && isHit(test, cache, facts.file);
    if (!hit && op !== (got ? "is" : "not in")) continue;
    if (cache.kind === "Name" && isNeverPut(cache, facts) && facts.hot(test))
      yield { asked, cache: cache.id, why: "nothing put", maybe: true };
    else yield* neverStoredOnSelf(asked, cache, facts);
  }
}

/** An empty dict of the class, in which nothing of it puts anything. */
function* neverStoredOnSelf(asked: Expr, cache: Expr, facts: Facts): Generator<Unfilled> {
  const own = selfAttribute(cache);
  const cls = own === null ? null : classOf(asked);
  if (!cls) return;
  // What a network is given to make its anchors with is no module itself.
  const helper = facts.role(cls) === "other" && /cache/.test(own!) && facts.accelerator;
  // Where a network only looks, it may do so for each batch of an evaluation.
  const within = functionOf(asked);
  const looks = facts.guesses && within?.kind === "FunctionDef" && within.name !== "__init__";
  if (!(isModuleRole(facts.role(cls)) && (looks || facts.hot(asked))) && !helper) return;
  const made = attributesOf(cls, facts.file).get(own!)?.writes ?? [];
  if (made.length === 0 || !made.every(({ value }) => value !== null && isEmptyDict(value, facts))) return;
  if (isFilledAnyhow(own!, cls, facts.file) || (helper && !/torch\./.test(facts.file.codeOf(cls)))) return;
  yield { asked, cache: `self.${own}`, why: "nothing put", maybe: helper };
}

/** Something is put there, also by somebody else, or it is handed on or has another name. */
function isFilledAnyhow(own: string, cls: ClassDef, file: PythonFile): boolean {
  const puts = `\\.${own}(?:\\[.+\\]\\s*=[^=]|\\.(?:update|setdefault)\\()`;
  const handed = `(?:=|(?<!\\blen)\\(|,)\\s*self\\.${own}\\s*(?:[,)]|$)`;
  return (
    new RegExp(`self${puts}|${handed}`, "m").test(file.codeOf(cls)) ||
    new RegExp(`\\b(?!self\\b)\\w+${puts}`).test(file.code)
  );
}

/** It hands out what it has, and is done with it: what is below, or in the other branch, is for what is missing. */
const isLeft = ({ body, orelse }: If): boolean => body.at(-1)!.kind === "Return" || orelse.length > 0;

/**
 * `table = self.cache[n]`, where the other branch computes it, with several caches of one key one of these for each; or
 * `self.table = self.cache[n]` and a `return`.
 */
function isHit(test: If, cache: Expr, file: PythonFile): boolean {
  const { body, orelse } = test;
  const taken = `${file.textOf(cache)}[`;
  const isTaken = (one: Stmt): boolean =>
    one.kind === "Assign" && (one.value.kind === "Subscript" || file.textOf(one.value).includes(taken));
  const last = body.at(-1)!;
  if (last.kind !== "Return") return orelse.length > 0 && body.every(isTaken);
  return body.length === 1 || body.slice(0, -1).every(isTaken);
}

/** `windows = {}` at the top of the file, which nothing here is put into, and which nobody else is handed. */
function isNeverPut(cache: Name, facts: Facts): boolean {
  const { file } = facts;
  const [made, ...more] = file.scopes.lookup(cache)?.definitions ?? [];
  if (!made?.value || more.length > 0 || functionOf(made.node) !== null) return false;
  return (
    isEmptyDict(made.value, facts) &&
    file.scopes.uses(made).every(({ parent }) => {
      if (parent?.kind === "Compare") return true;
      if (parent?.kind === "Attribute") return parent.attr === "get";
      const isTarget = parent?.parent?.kind === "Assign" && parent.parent.targets.includes(parent as Expr);
      return parent?.kind === "Subscript" && !isTarget;
    })
  );
}

/**
 * `if key not in cache:`, while all that is ever put there is put under something made of the key, or of another kind than it; also
 * asked the other way round, by `cache.get(key)` or by what is caught.
 */
function* storedElsewhere(tests: readonly If[], facts: Facts): Generator<Unfilled> {
  const { file } = facts;
  for (const { asked, left, cache, stored } of [...lookups(tests, facts), ...caught(facts)]) {
    if (!facts.hot(asked)) continue;
    const kind = kindOf(left, file);
    if (!/^(?:Name|Attribute|Subscript)$/.test(left.kind) && kind === null) continue;
    const text = file.textOf(cache);
    const [made, ...more] = cache.kind === "Name" ? (file.scopes.lookup(cache)?.definitions ?? []) : [];
    const own = selfAttribute(cache);
    const cls = own === null ? null : classOf(asked);
    const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
    const kept = made
      ? more.length === 0 &&
        functionOf(made.node) === null &&
        made.value !== null &&
        isEmptyDict(made.value, facts)
      : writes.length > 0 && writes.every(({ value }) => value !== null && isEmptyDict(value, facts));
    if (!kept) continue;
    const stores = file
      .all("Assign")
      .flatMap(({ targets }) => targets)
      .filter((one) => one.kind === "Subscript" && file.textOf(one.value) === text);
    const isElsewhere = (one: Expr): boolean =>
      one.kind === "Subscript" &&
      stored(one) &&
      (isOtherKind(one.index, kind, file) ||
        isMadeOf(one.index, left, file) ||
        isMadeOf(left, one.index, file));
    // What other functions put into a cache that they share is no more under this key.
    const isOfOthers = (one: Expr): boolean =>
      one.kind === "Subscript" &&
      functionOf(one) !== functionOf(asked) &&
      isLongerByName(one.index, left, file);
    if (!stores.some(isElsewhere) || !stores.every((one) => isElsewhere(one) || isOfOthers(one))) continue;
    // Filled by other means, or by somebody it is handed to, it may have the key.
    const speaks = (one: Expr): boolean => file.textOf(one) === text;
    const isLookedUp = ({ parent }: Expr): boolean =>
      parent?.kind === "Subscript" ||
      parent?.kind === "Compare" ||
      parent?.kind === "Assign" ||
      (parent?.kind === "Attribute" && parent.attr === "get");
    if (![...file.all("Name"), ...file.all("Attribute")].filter(speaks).every(isLookedUp)) continue;
    const isPlain = (one: Expr): boolean =>
      one.kind === "Subscript" &&
      (isOtherKind(one.index, kind, file) ||
        /^(?:Tuple|Binary|Str)$/.test(one.index.kind) ||
        (left.kind === "Name" && isText(one.index, left, file)));
    const isPlainly =
      asked.kind === "Compare" &&
      asked.ops[0] === "not in" &&
      (left.kind === "Name" || kind !== null) &&
      !file.text.includes(`${text}.get(`);
    const maybe = !isPlainly || !stores.every(isPlain);
    yield { asked, cache: text, why: { key: file.textOf(left) }, maybe };
  }
}

/** How a cache is asked for a key, and what of it is put there when that is missing. */
interface Lookup {
  readonly asked: Expr;
  readonly left: Expr;
  readonly cache: Expr;
  readonly stored: (target: Expr) => boolean;
}

/** `if key not in cache:`, `if key in cache: return cache[key]`, and `if table is None:` of `table = cache.get(key)`. */
function* lookups(tests: readonly If[], facts: Facts): Generator<Lookup> {
  for (const test of tests) {
    const { test: asked, body } = test;
    const [right] = asked.kind === "Compare" ? asked.rights : [];
    if (asked.kind !== "Compare" || !right) continue;
    const isIn = (target: Expr): boolean => body.some((statement) => contains(statement, target));
    const isPast = (target: Expr): boolean =>
      functionOf(target) === functionOf(test) && target.start > test.start && !isIn(target);
    const op = asked.ops[0]!;
    const got = /^is(?: not)?$/.test(op) && isNone(right) ? askedFor(asked.left, facts) : null;
    if (op === "not in") yield { asked, left: asked.left, cache: right, stored: isIn };
    else if (op === "in" && body.at(-1)?.kind === "Return")
      yield { asked, left: asked.left, cache: right, stored: isPast };
    else if (op === "in" && test.orelse.length > 0)
      yield { asked, left: asked.left, cache: right, stored: isPast };
    else if (got && (op === "is" || body.at(-1)?.kind === "Return"))
      yield { asked, ...got, stored: op === "is" ? isIn : isPast };
  }
}

/** `try: return cache[key]`, `except KeyError:` */
function* caught({ file }: Facts): Generator<Lookup> {
  for (const { body, handlers } of file.all("Try")) {
    const [first] = body;
    const asked = first?.kind === "Return" || first?.kind === "Assign" ? first.value : null;
    if (asked?.kind !== "Subscript" || !handlers.some(({ type }) => type && lastWord(type) === "KeyError"))
      continue;
    const fn = functionOf(asked);
    const stored = (target: Expr): boolean => functionOf(target) === fn && target.start > asked.end;
    yield { asked, left: asked.index, cache: asked.value, stored };
  }
}

/** The key that a longer one is made of, `(n, x.device)` or `f"{n}_{x.device}"` of `n`, as it was when that was made. */
function isMadeOf(longer: Expr, key: Expr, file: PythonFile): boolean {
  let made: Expr | null = longer;
  // `name = f"{n}_{device}"` above; `n` itself is the key.
  for (let depth = 0; made?.kind === "Name" && depth < 3; depth++)
    made = file.textOf(made) === file.textOf(key) ? null : file.scopes.onlyValue(made);
  if (!made || !(isLonger(made, file) || (key.kind === "Name" && isText(made, key, file)))) return false;
  const text = file.textOf(key);
  let found = false;
  walk(made, (part) => {
    if (part !== made && part.kind === key.kind && file.textOf(part) === text)
      found ||= namesIn(part).every((one, at) => isSame(one, namesIn(key)[at]!, file));
    return !found;
  });
  return found;
}

/** `f"{n}_{device}"` of an `n` that is another function's: a key as long as that there, whatever `n` is. */
function isLongerByName(index: Expr, key: Expr, file: PythonFile): boolean {
  const made = index.kind === "Name" ? file.scopes.onlyValue(index) : index;
  if (key.kind !== "Name" || !made || !isLonger(made, file)) return false;
  return namesIn(made).some(({ id }) => id === key.id);
}

/** Nobody has given the name anything else between the two. */
function isSame(one: Name, other: Name, { scopes }: PythonFile): boolean {
  const [then, now] = [scopes.reaching(one), scopes.reaching(other)];
  return then.length > 0 && then.length === now.length && then.every((given) => now.includes(given));
}

function isOtherKind(index: Expr, kind: string | null, file: PythonFile): boolean {
  const own = kind === null ? null : kindOf(index, file);
  return own !== null && own !== kind;
}

/** What a key is: a text, a number, or a tuple of so many; no two of these are ever equal. Null where nobody says. */
function kindOf(key: Expr, file: PythonFile, depth = 0): string | null {
  if (key.kind === "Tuple")
    return key.items.some(({ kind }) => kind === "Starred") ? null : `tuple of ${key.items.length}`;
  if (key.kind === "Str") return "text";
  if (key.kind === "Num") return "number";
  if (key.kind === "Name") {
    const made = depth < 3 ? file.scopes.onlyValue(key) : null;
    return made && kindOf(made, file, depth + 1);
  }
  const name = key.kind === "Call" ? file.dotted(key.func) : null;
  if (name === "builtins.str" || name === "builtins.repr") return "text";
  return name === "builtins.int" || name === "builtins.len" ? "number" : null;
}

/** `str(length)` of a length. */
function isText(expr: Expr, key: Name, file: PythonFile): boolean {
  return (
    expr.kind === "Call" &&
    file.dotted(expr.func) === "builtins.str" &&
    /^(?:[nlthw]|\w*(?:len|length|size|width|height|steps?))$/i.test(key.id)
  );
}

/** A pair, or a string with more in it than the key: never the key itself. */
function isLonger(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Tuple") return true;
  const text = file.textOf(expr);
  // `"{}_{}".format(n, device)`, `"_".join([str(n), str(device)])`
  if (expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.value.kind === "Str")
    return expr.func.attr === "format"
      ? !/^["']\{\w*\}["']$/.test(file.textOf(expr.func.value))
      : expr.func.attr === "join";
  return expr.kind === "Binary"
    ? expr.op === "+" && /["']/.test(text)
    : expr.kind === "Str" && expr.parts.length > 0 && !/^\w*["']\{\w+\}["']$/.test(text);
}

/** `if self.table is None: …` that computes it and keeps it under another name. */
function* neverKept(tests: readonly If[], facts: Facts): Generator<Unfilled> {
  const { file } = facts;
  for (const test of tests)
    // One part of an `or` that always holds is enough.
    for (const asked of test.test.kind === "Bool" && test.test.op === "or" ? test.test.values : [test.test]) {
      const own = missing(asked, test) ?? missingUnderName(asked, test, file);
      const cls = own === null ? null : classOf(test);
      if (!cls || !isModuleRole(facts.role(cls)) || !facts.hot(test)) continue;
      if (!isNeverSet(own!, cls, file)) continue;
      const computes = (one: Stmt): boolean =>
        one.kind === "Assign" && /torch\.|self\./.test(file.textOf(one));
      if (missing(asked, test) !== null && !test.body.some(computes)) continue;
      yield { asked, cache: `self.${own}`, why: "None here" };
      break;
    }
}

/** `if exists(self.table): return self.table`, and what is computed below is not kept. */
function* neverReturned(tests: readonly If[], facts: Facts): Generator<Unfilled> {
  const { file } = facts;
  for (const test of tests) {
    const own = present(test.test) ?? had(test.test, file);
    const cls = own === null ? null : classOf(test);
    if (!cls || !isModuleRole(facts.role(cls)) || !facts.hot(test)) continue;
    if (!isNeverSet(own!, cls, file) && !(had(test.test, file) !== null && isNeverMade(own!, cls, file)))
      continue;
    const fn = functionOf(test);
    const returns = file
      .all("Return")
      .filter(
        (one) => functionOf(one) === fn && one.value !== null && file.textOf(one).includes(`self.${own}`),
      );
    const below = (blockOf(test) ?? []).filter(({ start }) => start > test.end);
    // Of what is asked for its shape it is known that a tensor is meant, whoever computes that below.
    const told = isTensorKept(own!, test.test, cls, file);
    const computes = (one: Stmt): boolean =>
      told
        ? (one.kind === "Assign" || one.kind === "Return") &&
          one.value !== null &&
          /\w\(/.test(file.textOf(one.value))
        : // `if self.hook is not None and self.training:` asks for something else.
          !(test.test.kind === "Bool" && present(test.test) !== null) &&
          one.kind === "Assign" &&
          /torch\./.test(file.textOf(one));
    if (returns.some((one) => contains(test, one)) && below.some(computes))
      yield { asked: test.test, cache: `self.${own}`, why: "None below" };
  }
}

/** `self.table` of `exists(self.table)`, `self.table is not None`. */
function present(test: Expr): string | null {
  if (test.kind === "Call" && test.func.kind === "Name" && test.func.id === "exists")
    return test.args[0] ? selfAttribute(test.args[0].value) : null;
  // `self.table is not None and self.table.shape[0] >= n`
  if (test.kind === "Bool") return test.op === "and" ? present(test.values[0]!) : null;
  const right = test.kind === "Compare" && test.ops[0] === "is not" ? test.rights[0] : null;
  return test.kind === "Compare" && right && isNone(right) ? selfAttribute(test.left) : null;
}

/** Registered as a buffer, or asked how large it is beside whether it is there. */
function isTensorKept(own: string, test: Expr, cls: ClassDef, file: PythonFile): boolean {
  const writes = attributesOf(cls, file).get(own)?.writes ?? [];
  return (
    (writes.length > 0 && writes.every(({ how }) => how === "buffer")) ||
    new RegExp(`self\\.${own}\\.(?:shape|size|device|dtype)\\b`).test(file.textOf(test))
  );
}

/** `self.table` of `hasattr(self, "table")`, also where more is asked of it. */
function had(test: Expr, file: PythonFile): string | null {
  const asked = test.kind === "Bool" && test.op === "and" ? test.values[0]! : test;
  if (asked.kind !== "Call" || file.dotted(asked.func) !== "builtins.hasattr") return null;
  const [of, name] = asked.args;
  return of?.value.kind === "Name" && of.value.id === "self" && name?.value.kind === "Str"
    ? name.value.value
    : null;
}

/** Of a class with no other base that could: it is written nowhere, by name or otherwise. */
function isNeverMade(own: string, cls: ClassDef, file: PythonFile): boolean {
  return (
    cls.args.every(({ value }) => file.dotted(value) === "torch.nn.Module") &&
    !attributesOf(cls, file).has(own) &&
    !new RegExp(`\\.${own}\\s*=[^=]|(?<!hasattr\\(self, )["']${own}["']`).test(file.code)
  );
}

/** Nothing but None is ever written to it, by the class or from outside. */
function isNeverSet(own: string, cls: ClassDef, file: PythonFile): boolean {
  const writes = attributesOf(cls, file).get(own)?.writes ?? [];
  return (
    writes.length > 0 &&
    writes.every(({ value }) => value !== null && isNone(value)) &&
    !isSetOutside(own, cls, file)
  );
}

/** Written by name outside of its class. */
function isSetOutside(own: string, cls: ClassDef, file: PythonFile): boolean {
  return new RegExp(`\\.${own}\\s*=[^=]|["']${own}["']`).test(file.code.replace(file.codeOf(cls), ""));
}

/** What a test asks of itself that holds while it is None: `self.table is None`, or `length != self.cached_length` either way round. */
function missing(asked: Expr, { body }: If): string | null {
  const [right] = asked.kind === "Compare" ? asked.rights : [];
  if (asked.kind !== "Compare" || !right) return null;
  const left = selfAttribute(asked.left);
  if (asked.ops[0] === "is") return isNone(right) ? left : null;
  if (asked.ops[0] !== "!=") return null;
  if (left === null) return selfAttribute(right);
  // `if self.mode != "train":` compares a setting: a key is of this forward, and something is kept for it.
  const keeps = (one: Stmt): boolean =>
    one.kind === "Assign" && one.targets.some((target) => selfAttribute(target) !== null);
  const ofForward = right.kind === "Name" || right.kind === "Subscript" || right.kind === "Call";
  return ofForward && body.some(keeps) ? left : null;
}

/**
 * `self.table` of `table = self.table`, `if table is None: table = self.build(n)`, which leaves what is kept as it was; also of
 * `(table := self.table) is None`. A state that begins anew for each input is no table.
 */
function missingUnderName(asked: Expr, { body }: If, { scopes }: PythonFile): string | null {
  if (asked.kind !== "Compare" || asked.ops[0] !== "is" || !asked.rights[0] || !isNone(asked.rights[0]))
    return null;
  const { left } = asked;
  const taken = left.kind === "Walrus" ? left.target : left;
  const value =
    left.kind === "Walrus" ? left.value : left.kind === "Name" ? onlyReaching(left, scopes) : null;
  const own = value && selfAttribute(value);
  // `1 - torch.eye(n)` too.
  const makes = (one: Stmt): boolean =>
    one.kind === "Assign" &&
    (one.value.kind === "Call" || one.value.kind === "Binary") &&
    one.targets.some((target) => target.kind === "Name" && taken.kind === "Name" && target.id === taken.id);
  return own !== null && !BEGUN.test(own) && body.some(makes) ? own : null;
}

/** What a state is called that each input begins with. */
const BEGUN = /hidden|state|memor|past|^[hc](?:x|_?\d)?$/;

function onlyReaching(name: Name, scopes: PythonFile["scopes"]): Expr | null {
  const [one, ...more] = scopes.reaching(name);
  return one?.how === "assign" && more.length === 0 ? one.value : null;
}

function isEmptyDict(expr: Expr, facts: Facts): boolean {
  return (
    (expr.kind === "Dict" && expr.keys.length === 0) ||
    (expr.kind === "Call" &&
      expr.args.length === 0 &&
      /^(?:builtins\.dict|collections\.OrderedDict)$/.test(facts.file.dotted(expr.func) ?? ""))
  );
}

/** `self.cache` of `self.cache.get(key)`, asked about by the name that took it. */
const gotten = (expr: Expr, facts: Facts): Expr | null => askedFor(expr, facts)?.cache ?? null;

/** With the key that it is asked for. */
function askedFor(expr: Expr, facts: Facts): { readonly cache: Expr; readonly left: Expr } | null {
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  const bare = expr.kind === "Walrus" ? expr.value : expr;
  const value = expr.kind === "Name" ? (more.length === 0 ? (one?.value ?? null) : null) : bare;
  return value?.kind === "Call" &&
    value.func.kind === "Attribute" &&
    value.func.attr === "get" &&
    value.args[0]
    ? { cache: value.func.value, left: value.args[0].value }
    : null;
}

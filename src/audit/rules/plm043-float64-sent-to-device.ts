import { argument, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Dict, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import { addKeyword } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { isFloat64 } from "../facts/float64.ts";
import { boundBefore } from "../facts/handed-around.ts";
import { handedIn } from "../facts/handed-in.ts";
import { isOnlySent, keptType, mayBeWide, narrows, toDevice } from "../facts/kept-types.ts";
import { castLate } from "../facts/likely-late-casts.ts";
import { COLLECTED, likelyWide } from "../facts/likely-arrays.ts";
import { leftUncast } from "../facts/likely-uncast.ts";
import { loadersOf } from "../facts/loaders.ts";
import { isArray } from "../facts/numpy-arrays.ts";
import { returnsByName } from "../facts/returns.ts";
import { isLikelyScaledFrame, isScaledFrame } from "../facts/scaled-frames.ts";
import { callTarget } from "../facts/summary.ts";
import { last } from "../facts/torch-names.ts";
import { hasFractions, isWideByUse, known } from "../facts/wide-by-use.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM043",
    name: "float64-sent-to-device",
    summary: "A NumPy array of float64 is sent to the device as it is",
    severity: "warning",
    fix: "unsafe",
    patterns: [43],
  },
  *check(facts) {
    yield* collated(facts);
    yield* sentByHelper(facts);
    yield* madeByHelper(facts);
    yield* castThere(facts);
    yield* prepared(facts);
    if (facts.guesses) {
      yield* notCast(facts);
      return yield* guessed(facts);
    }
    for (const call of facts.file.callsNamed("to", "cuda", "from_numpy", "tensor", "as_tensor")) {
      const moved =
        call.func.kind === "Attribute" &&
        (call.func.attr === "cuda" || (call.func.attr === "to" && isOnlySent(call, facts)))
          ? (wideEntry(call.func.value, facts) ?? factory(call.func.value, facts, 0))
          : null;
      const made = moved ?? (keyword(call, "device") ? call : null);
      if (made?.kind !== "Call" || keyword(made, "dtype")) continue;
      const name = facts.file.dotted(made.func) ?? "";
      // `torch.DoubleTensor(gains).to(device).float()`
      if (name === "torch.DoubleTensor" && isNarrowedThere(call, facts)) {
        yield {
          at: made,
          severity: "note",
          message:
            "`torch.DoubleTensor` makes float64 of what is made float32 where it has been sent: twice the bytes to copy",
          fix: {
            grade: "unsafe",
            title: "Make it float32",
            edits: [{ start: made.end, end: made.end, text: ".float()" }],
          },
        };
        continue;
      }
      if (
        !/^torch\.(?:from_numpy|tensor|as_tensor)$/.test(name) ||
        (made === call && facts.device(keyword(call, "device")!.value) === "cpu")
      )
        continue;
      const data = positional(made, 0);
      const wide =
        data !== null &&
        [data, ...goneThrough(data, facts)].some((part) => isFloat64(part, facts.once(known)));
      if (
        !data ||
        (!wide && !isWideByUse(data, facts) && !(isNarrowedThere(call, facts) && hasFractions(data, facts)))
      )
        continue;
      yield {
        at: made,
        // Once after an evaluation it is next to nothing.
        ...(!wide || isCounted(data, facts) ? { severity: "note" as const } : {}),
        message: `\`torch.${last(name)}\` keeps NumPy's float64: twice the bytes to copy and to hold, and slow arithmetic with whatever meets it`,
        fix: {
          grade: "unsafe",
          title: "Make it float32",
          edits: isMeantWide(data, facts.file)
            ? []
            : made === call
              ? addKeyword(
                  call,
                  `dtype=${facts.file.textOf(made.func).replace(/\.?\w+$/, "") || "torch"}.float32`,
                  facts.file,
                )
              : [{ start: made.end, end: made.end, text: ".float()" }],
        },
      };
    }
  },
};

/** `np.arange(n, dtype=np.float64)`: who writes it down wants it, for what is computed from there on. */
function isMeantWide(data: Expr, file: PythonFile, seen = new Set<Expr>()): boolean {
  if (seen.has(data) || seen.size > 20) return false;
  seen.add(data);
  return (
    /\b(?:float64|double)\b/.test(file.textOf(data)) ||
    namesIn(data).some((name) =>
      file.scopes.reaching(name).some(({ value }) => value !== null && isMeantWide(value, file, seen)),
    )
  );
}

const LOADED =
  "The loader makes a float64 tensor of this: twice the bytes to hold, and to copy unless it is cast before";

const KEPT =
  "NumPy's float64 is kept: twice the bytes to copy and to hold, and slow arithmetic with whatever meets it";

/** A tensor made of what is likely float64, cast nowhere on its way, and sent or handed to the loader. */
function* guessed(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("from_numpy", "tensor"))
    if (mayBeWide(call, facts) && isCastWhereSent(call, facts)) yield { at: call, message: KEPT };
  for (const at of castLate(facts)) yield { at, message: KEPT };
  for (const call of file.callsNamed("from_numpy", "tensor", "as_tensor")) {
    const data = keptType(call, facts);
    if (!data || isCounted(data, facts) || isCastLater(call, facts)) continue;
    // `torch.from_numpy(SIGMAS)` in a constructor: a constant of a few numbers, once.
    const fn = functionOf(call);
    if (fn?.kind === "FunctionDef" && fn.name === "__init__" && /^_?[A-Z][A-Z\d_]*$/.test(lastWord(data)))
      continue;
    const loads =
      fn?.kind === "FunctionDef" && /^__(?:getitem|iter)__$|collate/.test(fn.name)
        ? true
        : isSentOn(call, facts);
    if (!loads) continue;
    // Of lists and numbers torch makes float32.
    if (lastWord(call.func) !== "from_numpy" && /^(?:List|Tuple|Comp|Num)$/.test(data.kind)) continue;
    const byName = lastWord(call.func) === "from_numpy" || COLLECTED.test(lastWord(data));
    if (likelyWide(data, facts, byName && isSentOn(call, facts))) yield { at: call, message: KEPT };
    // `torch.from_numpy(store[at] / 255.0)` in a dataset
    else if (
      fn?.kind === "FunctionDef" &&
      fn.name === "__getitem__" &&
      lastWord(call.func) === "from_numpy" &&
      isLikelyScaledFrame(data, facts.once(known)) &&
      ![...collated(facts)].some(({ at }) => functionOf(at as Node) === fn)
    )
      yield { at: call, message: LOADED };
  }
}

/** `.to(device).float()` behind it, in that order. */
function isCastWhereSent(call: Call, facts: Facts): boolean {
  let sent = false;
  for (
    let at = call;
    at.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call";
    at = at.parent.parent
  ) {
    const { attr, parent } = at.parent;
    if (attr === "float") return sent;
    sent ||= attr === "cuda" || (attr === "to" && toDevice(parent as Call, facts));
    if (!sent && !/^(?:unsqueeze|view|reshape|permute|transpose|squeeze)$/.test(attr)) return false;
  }
  return false;
}

/** `.float()` behind it, or behind the name that it is given. */
function isCastLater(call: Call, { file }: Facts): boolean {
  const statement = statementOf(call);
  if (
    !statement ||
    /\.(?:float|long|int|half|bool|bfloat16|type|type_as)\(|dtype|FloatTensor|LongTensor|float32|torch\.long/.test(
      file.textOf(statement),
    )
  )
    return true;
  const [target] = statement.kind === "Assign" ? statement.targets : [];
  const word = target ? lastWord(target) : "";
  return (
    word !== "" &&
    new RegExp(
      String.raw`\b${word}(?:\.\w+\([^()]*\))*\.(?:float|long|int|half|bool|bfloat16|type|type_as|to\([^()\n]*(?:dtype|torch\.))\b`,
    ).test(file.text)
  );
}

/** `….to(device)`, `….cuda()`, `device=device`, and the same behind the name that it is given. */
function isSentOn(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const device = keyword(call, "device");
  if (device) return facts.device(device.value) !== "cpu";
  const goes = (expr: Expr): boolean => {
    for (
      let at: Expr = expr;
      at.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call";
      at = at.parent.parent
    ) {
      if (at.parent.attr === "cuda") return true;
      if (at.parent.attr === "to") return toDevice(at.parent.parent, facts);
    }
    const outer = expr.parent?.kind === "Arg" ? expr.parent.parent : null;
    return outer?.kind === "Call" && /^(?:Variable|stack|cat)$/.test(lastWord(outer.func)) && goes(outer);
  };
  if (goes(call)) return true;
  const statement = statementOf(call);
  const [target] = statement?.kind === "Assign" ? statement.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return made !== null && file.scopes.uses(made).some(goes);
}

/** The one of `{"noise": torch.from_numpy(noise), …}` that keeps float64, where all of them are sent: `for part in parts.values()`. */
function wideEntry(expr: Expr, facts: Facts): Expr | null {
  const wide = goneThrough(expr, facts).find((item) => {
    const data = dataOf(item, facts);
    return data !== null && isFloat64(data, facts.once(known));
  });
  return wide ? factory(wide, facts, 0) : null;
}

/** What a name stands for one after the other: the parts of what `for part in parts.values()` goes through, where that is written down. */
function goneThrough(expr: Expr, { file }: Facts): readonly Expr[] {
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (one?.how !== "iterate" || more.length > 0 || !one.value) return [];
  const { value } = one;
  const over =
    value.kind === "Call" && value.func.kind === "Attribute" && /^(?:items|values)$/.test(value.func.attr)
      ? value.func.value
      : value;
  // `parts = {name: part.to(device) for name, part in parts.items()}` gives the name another value only then.
  const [made, ...others] =
    over.kind === "Name"
      ? file.scopes.reaching(over).filter((given) => !given.value || !contains(given.value, over))
      : [];
  const held = over.kind === "Name" ? (others.length === 0 ? made?.value : null) : over;
  if (held?.kind === "Dict") return held.values;
  if (held?.kind === "Call" && file.dotted(held.func) === "builtins.dict")
    return held.args.flatMap((arg) => (arg.name === null ? [] : [arg.value]));
  return held?.kind === "Tuple" || held?.kind === "List" ? held.items : [];
}

/** `to_tensor(offsets)`, of a function that makes a tensor of what it is given, as it is, and sends that. */
function* sentByHelper(facts: Facts): Generator<Finding> {
  for (const call of facts.callsTo("copies")) {
    const callee = facts.callee(call);
    if (!callee?.copies) continue;
    const shift = callee.params[0] === "self" ? 1 : 0;
    const wide = callee.copies.some((param) => {
      const given = argument(call, param, callee.params.indexOf(param) - shift);
      return given !== null && isFloat64(given, facts.once(known)) && !isCounted(given, facts);
    });
    if (wide)
      yield {
        at: call,
        severity: "note",
        message: `\`${lastWord(call.func)}\` keeps NumPy's float64 and sends it: twice the bytes to copy and to hold, and slow arithmetic with whatever meets it`,
      };
  }
}

/** `keep_mask(x.shape).cuda()`, of a function that makes a tensor of an array of float64, as it is. */
function* madeByHelper(facts: Facts): Generator<Finding> {
  const makers = new Set(facts.callsTo("wide"));
  if (makers.size === 0) return;
  for (const call of facts.file.callsNamed("to", "cuda")) {
    if (call.func.kind !== "Attribute" || facts.file.dotted(call.func) !== null) continue;
    if (call.func.attr === "to" && !isOnlySent(call, facts)) continue;
    const made = helperOf(call.func.value, makers, facts);
    if (made)
      yield {
        at: call,
        severity: "note",
        message: `What \`${lastWord(made.func)}\` makes keeps NumPy's float64: twice the bytes to copy and to hold, and slow arithmetic with whatever meets it`,
        fix: {
          grade: "unsafe",
          title: "Make it float32",
          edits: [{ start: call.func.value.end, end: call.func.value.end, text: ".float()" }],
        },
      };
  }
}

/** The call of a function of the tree that gave what is sent, which has float64 in that place. */
function helperOf(expr: Expr, makers: ReadonlySet<Call>, facts: Facts, depth = 0): Call | null {
  // `gains[rows].to(device)`
  if (expr.kind === "Subscript" && expr.index.kind !== "Str" && expr.value.kind === "Name" && depth < 2)
    return helperOf(expr.value, makers, facts, depth + 1);
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  // `self.update(rows, gains)`, of what a method handed out: all that is given to it in this file.
  if (one?.how === "param" && more.length === 0 && depth < 2) {
    const given = handedIn(one, facts.file, true).map((value) => helperOf(value, makers, facts, depth + 1));
    return given.every((made) => made !== null) ? (given[0] ?? null) : null;
  }
  // Handed out before the loop, and again in it.
  if (one?.how === "unpack" && more.length > 0) {
    const text = one.value && facts.file.textOf(one.value);
    const same = more.every(
      ({ how, index, value }) =>
        how === "unpack" && index === one.index && value !== null && facts.file.textOf(value) === text,
    );
    return same ? handedAt(one, makers, facts) : null;
  }
  if (one?.how === "unpack" && more.length === 0) return handedAt(one, makers, facts);
  const made = factory(expr, facts, 0);
  return made?.kind === "Call" && makers.has(made) && facts.callee(made)?.wide === "" ? made : null;
}

/** The call of `rows, gains = self.rollout()`, where that has float64 in its place. */
function handedAt({ value, index }: Definition, makers: ReadonlySet<Call>, facts: Facts): Call | null {
  const wide = value?.kind === "Call" && makers.has(value) ? (facts.callee(value)?.wide ?? null) : null;
  return value?.kind === "Call" && wide?.split(",").includes(String(index)) ? value : null;
}

/** `images.cuda().float()` of batches whose dataset, in whatever file, hands out float64 in that place. */
function* castThere(facts: Facts): Generator<Finding> {
  const isHeld = facts.file.callsNamed("TensorDataset").length > 0;
  if (!isHeld && !facts.project.wideData.has(facts.file.module)) return;
  for (const call of facts.file.callsNamed("float", "half", "bfloat16", "to")) {
    const part = narrows(call, facts) ? partOfBatch(call.func.value, facts) : null;
    const place = part?.index ?? null;
    if (part === null || place === null || !facts.hot(call)) continue;
    if (
      facts.once(widePlaces).has(String(place)) ||
      (isHeld && part.value !== null && isHeldWide(part.value, place, facts))
    )
      yield {
        at: call,
        severity: "note",
        message:
          "The dataset hands out float64, and this is cast where it has been sent: twice the bytes to copy, and a buffer of that size on the device; cast it before",
      };
  }
}

/** `TensorDataset(torch.from_numpy(rows), …)`, by which all that a loader may be of hold float64 at a place. */
function isHeldWide(loader: Expr, place: number, facts: Facts): boolean {
  const held = (loadersOf(loader, facts) ?? []).map((call) => {
    const data = argument(call, "dataset", 0);
    const made = data?.kind === "Name" ? facts.file.scopes.onlyValue(data) : data;
    if (made?.kind !== "Call") return null;
    // What a function of this file makes.
    const target = callTarget(made, facts.file);
    const [one, ...more] = (target !== null && facts.file.once(returnsByName).get(target)) || [made];
    return one?.kind === "Call" && more.length === 0 ? one : null;
  });
  return (
    held.length > 0 &&
    held.every((call) => {
      const item = call && lastWord(call.func) === "TensorDataset" ? positional(call, place) : null;
      const data = item && dataOf(item, facts);
      return data !== null && isFloat64(data, facts.once(known));
    })
  );
}

/** Which of `for images, labels in loader:` an expression has sent to the device, as it was; null where it is none. */
function partOfBatch(expr: Expr, facts: Facts): Definition | null {
  const { scopes } = facts.file;
  const sent = expr.kind === "Name" ? scopes.onlyValue(expr) : expr;
  if (sent?.kind !== "Call" || sent.func.kind !== "Attribute" || sent.func.value.kind !== "Name") return null;
  if (sent.func.attr !== "cuda" && !(sent.func.attr === "to" && isOnlySent(sent, facts))) return null;
  // Also in a function that the loops hand it to.
  const [one, ...more] = boundBefore(sent.func.value, facts.file) ?? [];
  const isSame = more.every(
    ({ how, index, value }) => how === "iterate" && index === one!.index && value?.parent?.kind === "For",
  );
  return one?.how === "iterate" && isSame && one.value?.parent?.kind === "For" ? one : null;
}

/** Where in their tuples the datasets of the tree have float64. */
function widePlaces({ project }: Facts): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [name, { wide }] of project.functions)
    if (wide !== null && name.endsWith(".__getitem__")) for (const place of wide.split(",")) found.add(place);
  return found;
}

/** What a dataset returns as NumPy's float64, the loader makes a tensor of float64 of. */
function* collated(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const cls of file.all("ClassDef")) {
    if (facts.role(cls) !== "dataset") continue;
    for (const value of handedOut(cls, file)) {
      const items = entriesOf(value, file)
        .filter(({ key }) => key === null || !isNarrowedElsewhere(key, cls, file))
        .flatMap(({ item }) => partsOf(item, cls, file));
      const wide = items.find((item) => isWideArray(dataOf(item, facts) ?? item, facts));
      if (wide)
        yield {
          at: wide,
          severity: "note",
          message: LOADED,
          fix: {
            grade: "unsafe",
            title: "Make it float32",
            edits:
              wide.kind === "Binary"
                ? [
                    { start: wide.start, end: wide.start, text: "(" },
                    { start: wide.end, end: wide.end, text: ').astype("float32")' },
                  ]
                : [
                    {
                      start: wide.end,
                      end: wide.end,
                      text: dataOf(wide, facts) ? ".float()" : '.astype("float32")',
                    },
                  ],
          },
        };
    }
  }
}

/** What is read from files that NumPy wrote, and handed out as it is beside others that are cast. */
function* notCast(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const cls of file.all("ClassDef")) {
    if (facts.role(cls) !== "dataset") continue;
    for (const value of handedOut(cls, file)) {
      const entries = entriesOf(value, file).filter(
        ({ key }) => key === null || !isNarrowedElsewhere(key, cls, file),
      );
      for (const at of leftUncast(
        entries.map(({ item }) => item),
        facts,
      ))
        yield { at, message: LOADED };
    }
  }
}

/** `torch.from_numpy(weights).to(device).float()`: who has to narrow it has seen that it was wider. */
function isNarrowedThere({ parent }: Call, facts: Facts): boolean {
  return parent?.kind === "Attribute" && parent.parent?.kind === "Call" && narrows(parent.parent, facts);
}

/** `torch.from_numpy(images / 255.0)` in what prepares the batches: the loader hands these on as they are. */
function* prepared(facts: Facts): Generator<Finding> {
  const preparing = facts.once(preparesBatches);
  // One cast on the way is enough, whichever it is of.
  if (preparing.size === 0 || [...preparing].some((fn) => CASTS.test(facts.file.textOf(fn)))) return;
  for (const call of facts.file.callsNamed("from_numpy", "tensor", "as_tensor")) {
    const fn = functionOf(call);
    const data = fn?.kind === "FunctionDef" && preparing.has(fn) ? keptType(call, facts) : null;
    if (data && isWideArray(data, facts))
      yield {
        at: call,
        severity: "note",
        message: `\`torch.${lastWord(call.func)}\` keeps NumPy's float64, and the loader hands it on: twice the bytes to hold, and to copy unless it is cast before`,
        fix: {
          grade: "unsafe",
          title: "Make it float32",
          edits: [{ start: call.end, end: call.end, text: ".float()" }],
        },
      };
  }
}

const CASTS = /\.(?:float|half|bfloat16)\(|float32|float16/;

/** Functions of the file that a dataset of Hugging Face or a loader calls for its batches, and those of the file that these call. */
function preparesBatches({ file }: Facts): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  const add = (named: Expr | null): void => {
    const [one, ...more] = named?.kind === "Name" ? (file.scopes.lookup(named)?.definitions ?? []) : [];
    if (one?.node.kind === "FunctionDef" && more.length === 0) found.add(one.node);
  };
  for (const call of file.callsNamed("with_transform", "set_transform")) add(positional(call, 0));
  for (const call of file.callsNamed("DataLoader")) add(keyword(call, "collate_fn")?.value ?? null);
  // A set goes on through what is added to it on the way.
  if (found.size > 0)
    for (const fn of found) for (const call of file.all("Call")) if (functionOf(call) === fn) add(call.func);
  return found;
}

/** The array behind `torch.from_numpy(image / 255.0).permute(2, 0, 1)`; null where it is none, or was cast. */
function dataOf(item: Expr, facts: Facts): Expr | null {
  const made = factory(item, facts, 0);
  return made?.kind === "Call" ? keptType(made, facts) : null;
}

function isWideArray(expr: Expr, facts: Facts): boolean {
  const around = facts.once(known);
  return (isArray(expr, around) && isFloat64(expr, around)) || isScaledFrame(expr, around);
}

/** What a dataset returns for an index, or yields one by one: itself, or by a method of its own, `yield self.sample()`. */
function handedOut(cls: ClassDef, file: PythonFile): readonly Expr[] {
  const iterates = methodsOf(cls).find(({ name }) => name === "__iter__");
  const yielded = file
    .all("Yield")
    .flatMap((one) => (one.value && !one.from && functionOf(one) === iterates ? [one.value] : []));
  return [...returnedBy(cls, "__getitem__", file), ...yielded].flatMap((value) =>
    ofOwnMethod(value, cls, file),
  );
}

function returnedBy(cls: ClassDef, name: string, file: PythonFile): readonly Expr[] {
  const method = methodsOf(cls).find((one) => one.name === name);
  return file.all("Return").flatMap((one) => (one.value && functionOf(one) === method ? [one.value] : []));
}

/** What `self.opened(path)` returns, where the class has that method; anything else is itself. */
function ofOwnMethod(value: Expr, cls: ClassDef, file: PythonFile): readonly Expr[] {
  const own = value.kind === "Call" ? selfAttribute(value.func) : null;
  const returned = own === null ? [] : returnedBy(cls, own, file);
  return returned.length > 0 ? returned : [value];
}

/** What a dataset's own method hands in for it, with the entries of that: `targets = self.build_targets(labels)`. */
function partsOf(item: Expr, cls: ClassDef, file: PythonFile): readonly Expr[] {
  const made = item.kind === "Name" ? file.scopes.onlyValue(item) : item;
  const own = made === null ? [] : ofOwnMethod(made, cls, file);
  return made === null || own[0] === made
    ? [item]
    : own.flatMap((one) => entriesOf(one, file).map((part) => part.item));
}

/** `mask = torch.stack([one["mask"] for one in rows]).float()` of what puts the batches together. */
function isNarrowedElsewhere(key: string, cls: ClassDef, file: PythonFile): boolean {
  return file.all("Subscript").some((read) => {
    if (read.index.kind !== "Str" || read.index.value !== key || classOf(read) === cls) return false;
    const statement = statementOf(read);
    const fn = functionOf(read);
    const [target] = statement?.kind === "Assign" ? statement.targets : [];
    const name = target?.kind === "Name" ? target.id : null;
    if (!statement || fn?.kind !== "FunctionDef" || !/collate/i.test(fn.name)) return false;
    return file
      .all("Assign")
      .filter((one) => functionOf(one) === fn)
      .some(
        (one) =>
          (one === statement || namesIn(one.value).some(({ id }) => id === name)) &&
          CASTS.test(file.textOf(one)),
      );
  });
}

/** A part of what a dataset hands out, and its name where it has one. */
interface Entry {
  readonly key: string | null;
  readonly item: Expr;
}

/** The parts of a tuple or of a dictionary, also of one that is filled by name: `example["image"] = image`, `return example`. */
function entriesOf(value: Expr, file: PythonFile): readonly Entry[] {
  if (value.kind === "Tuple") return value.items.map((item) => ({ key: null, item }));
  if (value.kind === "Dict") return inDict(value);
  const made = value.kind === "Name" ? file.scopes.onlyValue(value) : null;
  // `parts = [image, edges]`, which more may be added to; each is told where it was made.
  const listed = value.kind === "List" ? value : made?.kind === "List" ? made : null;
  if (listed)
    return listed.items.map((item) => {
      const one = item.kind === "Name" ? file.scopes.onlyValue(item) : null;
      return { key: null, item: one?.kind === "Call" ? one : item };
    });
  const isEmpty = made?.kind === "Call" && file.dotted(made.func) === "builtins.dict";
  if (value.kind !== "Name" || (made?.kind !== "Dict" && !isEmpty)) return [{ key: null, item: value }];
  const fn = functionOf(value);
  const filled = file.all("Assign").flatMap((one) => {
    const [target] = one.targets;
    const isEntry =
      target?.kind === "Subscript" &&
      target.index.kind === "Str" &&
      target.value.kind === "Name" &&
      target.value.id === value.id;
    return isEntry && functionOf(one) === fn ? [{ key: target.index.value, item: one.value }] : [];
  });
  return [...(made?.kind === "Dict" ? inDict(made) : []), ...filled];
}

function inDict({ keys, values }: Dict): readonly Entry[] {
  return values.map((item, at) => ({ key: keys[at]?.kind === "Str" ? keys[at].value : null, item }));
}

/** `confusion_matrix`: a few numbers for a whole dataset. */
function isCounted(data: Expr, { file }: Facts): boolean {
  return /confusion|hist|count|metric|total|correct/i.test(file.textOf(data));
}

/** The tensor that is moved, as it was made: through a name and changes of shape. */
function factory(expr: Expr, facts: Facts, depth: number): Expr | null {
  if (depth > 4) return null;
  if (expr.kind === "Name") {
    const value = facts.file.scopes.onlyValue(expr);
    return value ? factory(value, facts, depth + 1) : null;
  }
  // `wave * torch.from_numpy(window)`: of two tensors the wider type wins, where neither is a single number.
  if (expr.kind === "Binary")
    return [expr.left, expr.right].flatMap((side) => wideSide(side, facts, depth) ?? [])[0] ?? null;
  // `torch.stack([torch.from_numpy(row) for row in rows])`
  if (expr.kind === "Call" && /^torch\.(?:stack|cat|concat)$/.test(facts.file.dotted(expr.func) ?? "")) {
    const rows = positional(expr, 0);
    const row =
      rows?.kind === "Comp"
        ? rows.element
        : rows?.kind === "List" || rows?.kind === "Tuple"
          ? rows.items[0]
          : null;
    return row ? factory(row, facts, depth + 1) : null;
  }
  // `torch.from_numpy(image)[None]`
  if (expr.kind === "Subscript" && expr.index.kind !== "Str") return factory(expr.value, facts, depth + 1);
  // `self.schedule().to(device)`, of a method that makes the tensor.
  const own = expr.kind === "Call" && facts.file.dotted(expr.func) === null ? selfAttribute(expr.func) : null;
  const method = own === null ? undefined : methodsOf(classOf(expr)!).find(({ name }) => name === own);
  if (method) {
    const [made, ...more] = facts.file.all("Return").filter((one) => functionOf(one) === method);
    return made?.value && more.length === 0 ? factory(made.value, facts, depth + 1) : null;
  }
  // `Variable(torch.from_numpy(x))`, of older code: a tensor as it is.
  if (expr.kind === "Call" && facts.file.dotted(expr.func) === "torch.autograd.Variable" && expr.args[0])
    return factory(expr.args[0].value, facts, depth + 1);
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:unsqueeze|view|reshape|squeeze|flatten|permute|transpose|contiguous|clone|pin_memory|t)$/.test(
      expr.func.attr,
    ) &&
    facts.file.dotted(expr.func) === null
    ? factory(expr.func.value, facts, depth + 1)
    : expr;
}

/** The tensor behind a side of a product that is an array of float64, and no single number of it. */
function wideSide(side: Expr, facts: Facts, depth: number): Call | null {
  const made = factory(side, facts, depth + 1);
  const data = made?.kind === "Call" ? keptType(made, facts) : null;
  return made?.kind === "Call" && data && isWideArray(data, facts) ? made : null;
}

import { argument, isNone, isTrue } from "../../python/file.ts";
import { classOf, contains } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { ATTENTION, attentionNames, mentionsAttention, wordOf } from "../facts/attention-names.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM067",
    name: "attention-weights-thrown-away",
    summary: "`nn.MultiheadAttention` computes its whole attention matrix and nobody reads it",
    severity: "warning",
    fix: "safe",
    patterns: [67],
    hotOnly: true,
  },
  *check(facts) {
    if (!facts.file.mentions("MultiheadAttention") && !facts.file.says(/nn\.Transformer\w+Layer\)/)) return;
    for (const call of facts.file.all("Call")) {
      // Its fifth parameter.
      const asked = argument(call, "need_weights", 4);
      if (
        !(isAttention(call.func, facts) || isInherited(call.func, facts) || isLikely(call, facts)) ||
        (asked && !isTrue(asked)) ||
        (call.args.some((arg) => arg.star !== 0) && !facts.guesses)
      )
        continue;
      if (!isThrownAway(call, facts)) continue;
      yield {
        at: call,
        message:
          "The attention weights are thrown away, but asking for them (the default) forces the path that builds and keeps the whole matrix",
        fix: {
          grade: "safe",
          title: "Ask for no weights",
          edits: asked
            ? [{ start: asked.start, end: asked.end, text: "False" }]
            : addKeyword(call, "need_weights=False", facts.file),
        },
      };
    }
  },
};

function isAttention(expr: Expr, facts: Facts): boolean {
  const made = (value: Expr | null): boolean =>
    value?.kind === "Call"
      ? ATTENTION.test(facts.file.dotted(value.func) ?? "")
      : // `def __init__(self, attention: nn.MultiheadAttention)`
        value?.kind === "Name" && isSaidToBe(facts.file.scopes.reaching(value)[0], facts);
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
    if (writes.length === 0) return cls !== null && isOfTorch(own, cls, facts);
    if (writes.every((write) => made(write.value))) return true;
    // Chosen by a setting among layers that take one or two: what is given three is this.
    const call = expr.parent;
    return (
      call?.kind === "Call" &&
      call.args.filter(({ name }) => name === null).length >= 3 &&
      writes.some((write) => made(write.value)) &&
      writes.every(({ value }) => made(value) || isTorchLayer(value, facts))
    );
  }
  // `self.layers[0](…)`, `self.layers["attn"](…)`
  if (expr.kind === "Subscript")
    return expr.index.kind === "Str"
      ? made(entryOf(expr.value, expr.index.value, facts))
      : isListOf(expr.value, made, facts);
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(({ how, value, index }) => {
      if (!value) return false;
      if (how === "assign")
        return made(value) || (selfAttribute(value) !== null && isAttention(value, facts));
      if (how !== "iterate") return false;
      const over = iterated(value, index, facts);
      return isListOf(over, made, facts, over === value ? index : null);
    })
  );
}

/** Called by a name that attention goes by here, with a query, keys and values. */
function isLikely({ func, args }: Call, { file, guesses }: Facts): boolean {
  return (
    guesses &&
    args.filter(({ name }) => name === null || /^(?:query|key|value)$/.test(name)).length >= 3 &&
    // What somebody else says of them beside the call.
    !(args.some(({ star }) => star !== 0) && file.mentions("need_weights")) &&
    file.once(attentionNames).has(wordOf(func)) &&
    !isOfAnother(func, file)
  );
}

/** `self.attn` that its own class makes of something else: another class has one of that name. */
function isOfAnother(expr: Expr, file: PythonFile): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    writes.some(({ value }) => value?.kind === "Call" && file.dotted(value.func) !== null) &&
    writes.every(({ value }) => value !== null && !mentionsAttention(value, file))
  );
}

function isSaidToBe(definition: Definition | undefined, { file }: Facts): boolean {
  const said = definition?.node.kind === "Param" ? definition.node.annotation : null;
  return said !== null && ATTENTION.test(file.dotted(said) ?? "");
}

/** `self.self_attn` of a class of `nn.TransformerEncoderLayer`, which makes it. */
function isOfTorch(attribute: string, cls: ClassDef, { file }: Facts): boolean {
  return (
    /^(?:self_attn|multihead_attn)$/.test(attribute) &&
    cls.args.some(({ value }) => /^torch\.nn\.Transformer(?:En|De)coderLayer$/.test(file.dotted(value) ?? ""))
  );
}

function isTorchLayer(value: Expr | null, { file }: Facts): boolean {
  return (
    isNone(value) ||
    (value?.kind === "Call" &&
      /^torch\.nn\.(?:Linear|RNN|GRU|LSTM|Conv[123]d|Identity|Sequential|Dropout)$/.test(
        file.dotted(value.func) ?? "",
      ))
  );
}

/** `super().forward(…)` in a class of one's own that is one. */
function isInherited(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Attribute" || expr.attr !== "forward" || expr.value.kind !== "Call") return false;
  if (file.textOf(expr.value.func) !== "super") return false;
  const cls = classOf(expr);
  return (
    cls !== null &&
    cls.args.some(({ value }) => file.dotted(value) === "torch.nn.MultiheadAttention") &&
    cls.args.length === 1
  );
}

/** What `self.layers` has under a key, in a dict written down once. */
function entryOf(expr: Expr, key: string | null, facts: Facts): Expr | null {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  const [write] = writes;
  if (writes.length !== 1 || write?.value?.kind !== "Call") return null;
  const [given] = write.value.args;
  if (given?.value.kind === "Dict") {
    const at = given.value.keys.findIndex((one) => one?.kind === "Str" && one.value === key);
    return at < 0 ? null : given.value.values[at]!;
  }
  // `ModuleDict(dict(attn=…))`
  const named = given?.value.kind === "Call" ? given.value.args : [];
  return named.find(({ name }) => name === key)?.value ?? null;
}

/** What one name of `for a, b in zip(self.x, self.y)`, or of `enumerate`, goes through. */
function iterated(over: Expr, index: number | null, facts: Facts): Expr {
  const name = over.kind === "Call" ? facts.file.dotted(over.func) : null;
  if (over.kind !== "Call" || index === null) return over;
  if (name === "builtins.zip") return over.args[index]?.value ?? over;
  return name === "builtins.enumerate" && index === 1 ? (over.args[0]?.value ?? over) : over;
}

/** `for attn in self.layers` over `nn.ModuleList([nn.MultiheadAttention(…) for …])`; `index` in a list of lists of layers. */
function isListOf(
  expr: Expr,
  made: (value: Expr | null) => boolean,
  facts: Facts,
  index: number | null = null,
): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  if (!cls || writes.length === 0) return false;
  const appended = facts.file
    .callsNamed("append")
    .filter(
      (call) =>
        contains(cls, call) && call.func.kind === "Attribute" && selfAttribute(call.func.value) === own,
    )
    .map((call) => call.args[0]?.value ?? null);
  const items = [...writes.flatMap(({ value }) => itemsOf(value)), ...appended];
  return (
    items.length > 0 &&
    items.every((item) => made(item) || (index !== null && made(itemsOf(item)[index] ?? null)))
  );
}

/** What is written down in `ModuleList([…])`, `ModuleDict({…})`, a list, or a comprehension. */
function itemsOf(value: Expr | null): readonly (Expr | null)[] {
  const list = value?.kind === "Call" ? (value.args[0]?.value ?? null) : value;
  if (list?.kind === "Comp") return [list.value ?? list.element];
  if (list?.kind === "Dict") return list.values;
  return list?.kind === "List" || list?.kind === "Tuple" ? list.items : [];
}

/** `attn(...)[0]`, or unpacked into a name that is never read. */
function isThrownAway(call: Call, facts: Facts): boolean {
  const parent = call.parent;
  if (parent?.kind === "Subscript" && parent.value === call)
    return parent.index.kind === "Num" && parent.index.text === "0";
  if (parent?.kind !== "Assign" || parent.value !== call || parent.targets.length !== 1) return false;
  const [target] = parent.targets;
  // Kept whole, and nothing but its first part is ever looked at.
  if (target?.kind === "Name") {
    const whole = facts.file.scopes.definitionAt(target);
    const uses = whole ? facts.file.scopes.uses(whole) : [];
    return (
      uses.length > 0 &&
      uses.every(
        ({ parent: at }) => at?.kind === "Subscript" && at.index.kind === "Num" && at.index.text === "0",
      )
    );
  }
  if ((target?.kind !== "Tuple" && target?.kind !== "List") || target.items.length !== 2) return false;
  const [, second] = target.items;
  const weights = second!.kind === "Starred" ? second!.value : second!;
  if (weights.kind !== "Name") return false;
  const definition = facts.file.scopes.definitionAt(weights);
  return (
    definition !== null &&
    facts.file.scopes.uses(definition).every(({ parent: at }) => facts.guesses && at?.kind === "Delete")
  );
}

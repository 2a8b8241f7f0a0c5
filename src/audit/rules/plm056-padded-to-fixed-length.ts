import { isFalse, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import {
  ancestors,
  classOf,
  contains,
  functionOf,
  lastWord,
  namesIn,
  statementOf,
} from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { selfAttribute } from "../facts/classes.ts";
import { defaultOf, optionBehind } from "../facts/behind-options.ts";
import type { Facts } from "../facts/facts.ts";
import { isCollating, paddedLater } from "../facts/padded-later.ts";
import { last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";

const MESSAGE =
  "Every example is padded to the full length: the padding is computed and its activations are saved like any other token";

const ONE_SHAPE = ["cudagraph", "CUDAGraph"];

/** Words of image models, whose prompts have one length: what was learnt without a mask sees the padding too. */
const OF_IMAGES = ["StableDiffusion", "CLIPTokenizer", "diffusers"];

export const rule: Rule = {
  meta: {
    code: "PLM056",
    name: "padded-to-fixed-length",
    summary: "Examples are padded to a fixed length instead of to the longest of their batch",
    severity: "note",
    fix: "unsafe",
    patterns: [56],
  },
  *check(facts) {
    const { file } = facts;
    yield* byHand(facts);
    if (facts.guesses) yield* likelyPadded(facts);
    const calls = file.calls.given(["pad_to_max_length", "padding"]);
    if (
      !(file.mentions("max_length") && file.all("Str").some(({ value }) => value === "max_length")) &&
      !calls.some((call) => keyword(call, "padding")?.value.kind !== "Num") &&
      file.callsNamed("enable_padding").length === 0
    )
      return;
    if (!trainsOnAnyShape(facts)) return;
    const ofImages = isOfImages(file);
    for (const call of ofImages ? [] : file.callsNamed("enable_padding"))
      if (keyword(call, "length")) yield { at: call, message: MESSAGE };
    for (const call of ofImages ? calls.filter((one) => isMasked(one, file)) : calls) {
      const old = keyword(call, "pad_to_max_length");
      if (old && isTrue(old.value)) yield { at: old, message: MESSAGE };
      const padding = keyword(call, "padding");
      if (!padding || !isFixed(padding.value, file)) continue;
      const name = last(file.dotted(call.func) ?? "");
      if (name === "dict") {
        if (isHandedOn(call, file)) yield { at: padding, message: MESSAGE };
        continue;
      }
      const collates =
        name.startsWith("DataCollator") || (call.func.kind === "Attribute" && call.func.attr === "pad");
      // `partial(tokenizer, padding="max_length")`
      const callee = file.dotted(call.func) === "functools.partial" ? positional(call, 0) : call.func;
      if (!collates && !(callee && isTokenizer(callee, file))) continue;
      if (collates && isLongestOfBatch(call, file)) continue;
      const text = paddedLater(call, collates, file);
      yield {
        at: padding,
        message: MESSAGE,
        ...(text
          ? {
              fix: {
                grade: "unsafe" as const,
                title: "Pad to the longest of the batch",
                edits: [{ start: padding.value.start, end: padding.value.end, text }],
              },
            }
          : {}),
      };
    }
    if (ofImages) return;
    for (const dict of file.all("Dict")) {
      const at = dict.keys.findIndex((key) => key?.kind === "Str" && key.value === "padding");
      const value = at < 0 ? null : dict.values[at]!;
      if (value && isFixed(value, file) && isHandedOn(dict, file)) yield { at: value, message: MESSAGE };
    }
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (
        target?.kind === "Name" &&
        target.id === "padding" &&
        statement.value.kind === "Str" &&
        statement.value.value === "max_length" &&
        statement.parent?.kind !== "If"
      )
        yield { at: statement, message: MESSAGE };
    }
  },
  *checkConfig(config) {
    for (const setting of [...config.named("pad_to_max_length"), ...config.named("pad_to_sequence_len")])
      // With packing there is nothing left to pad; a compiled model wants one shape.
      if (
        setting.value === true &&
        !config.named("sample_packing").some(({ value }) => value === true) &&
        !config.named("torch_compile").some(({ value }) => value === true)
      )
        yield { at: setting.valueAt, message: MESSAGE };
  },
};

/**
 * Tokens that are filled up to a length that has nothing to do with their batch, in whatever way: a list by a list, a tensor by `F.pad`,
 * a block made of padding and written into, and `padding="max_length"` of whatever is called.
 */
function* likelyPadded(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (!trainsOnAnyShape(facts) || isOfImages(file) || PACKS.test(file.text) || ON_PURPOSE.test(file.text))
    return;
  const seen = new Set<Node | null>();
  // One for each class: where the tokens are padded, the labels of another method are as long as they.
  const first = (at: Node): boolean => {
    const fn = functionOf(at);
    const cls = classOf(at);
    const name = fn?.kind === "FunctionDef" ? fn.name : "";
    if (seen.has(cls ?? fn) || OTHER_USE.test(name) || /pack/i.test(`${name} ${cls?.name}`)) return false;
    seen.add(cls ?? fn);
    return true;
  };
  for (const call of file.calls.given(["padding"])) {
    const padding = keyword(call, "padding")!;
    if (/audio|feature_extractor|speech|wav/i.test(file.textOf(call).slice(0, 200))) continue;
    if (isFixed(padding.value, file) && !isLongestOfBatch(call, file) && first(call))
      yield { at: padding, message: MESSAGE };
  }
  for (const dict of file.all("Dict")) {
    const at = dict.keys.findIndex((key) => key?.kind === "Str" && key.value === "padding");
    const value = at < 0 ? null : dict.values[at]!;
    if (value && isFixed(value, file) && first(value)) yield { at: value, message: MESSAGE };
  }
  for (const times of file.all("Binary")) {
    const { left, op, right } = times;
    if (op !== "*") continue;
    const [list, count] = left.kind === "List" ? [left, right] : [right, left];
    const rest = count.kind === "Name" ? file.scopes.onlyValue(count) : count;
    if (list.kind !== "List" || list.items.length !== 1 || rest?.kind !== "Binary" || rest.op !== "-")
      continue;
    const isPadding =
      PADDING.test(file.textOf(list)) || PADDING.test(file.textOf(statementOf(times) ?? times));
    if (isPadding && isFixedLength(rest.left, file) && isCounted(rest.right, file) && first(times))
      yield { at: times, message: MESSAGE };
  }
  for (const call of file.callsNamed(
    "pad",
    "full",
    "new_full",
    "zeros",
    "new_zeros",
    "fill",
    "pad_to",
    "constant_pad",
  )) {
    const text = file.textOf(call);
    if (!isOfTokens(call, file)) continue;
    const sizes = call.args.flatMap(({ value }) =>
      value.kind === "Tuple" || value.kind === "List" ? value.items : [value],
    );
    const isFull =
      /^(?:pad|new_full|full)$/.test(lastWord(call.func)) && sizes.some((one) => one.kind === "Binary")
        ? sizes.some(
            (one) =>
              one.kind === "Binary" &&
              one.op === "-" &&
              isFixedLength(one.left, file) &&
              isCounted(one.right, file),
          )
        : /pad/.test(text) && sizes.some((one) => isFixedLength(one, file) && one.kind !== "Num");
    if (isFull && first(call)) yield { at: call, message: MESSAGE };
  }
}

/** Examples that are joined leave nothing to pad; prompts, and what is compared with a table, have one length. */
const PACKS = /group_texts|packing\s*=\s*True|concat_chars|ConstantLength|jax\b/;

/** `# ranks always see identical shapes`: somebody wants one. */
const ON_PURPOSE = /\b(?:identical|static|fixed|constant|same)[ -](?:tensor |input )?shapes?\b/i;

const OTHER_USE = /infer|generat|predict|sampl|eval|test|export|prompt/i;

const PADDING = /pad|-100|\b0\b|eos/i;

/** `max_len`, `512`, `self.block_size`, or a name for one of them; not the longest of a batch. */
function isFixedLength(expr: Expr, file: PythonFile, depth = 0): boolean {
  const text = file.textOf(expr);
  if (/\bmax\(|len\(|shape|size\(/.test(text) || isOfBatch(expr, file)) return false;
  if (expr.kind === "Num") return Number(expr.text) >= 32;
  // `source_max_len + target_max_len`, `max_len + 1`
  if (expr.kind === "Binary" && expr.op === "+" && depth < 3)
    return [expr.left, expr.right].every((one) => one.kind === "Num" || isFixedLength(one, file, depth + 1));
  if (expr.kind !== "Name" && expr.kind !== "Attribute" && expr.kind !== "Subscript") return false;
  const [made, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (made?.how === "assign" && made.value && more.length === 0 && depth < 3)
    return (
      isFixedLength(made.value, file, depth + 1) ||
      (FULL.test(text) && made.value.kind === "Call" && !/\bmax\b/.test(file.textOf(made.value)))
    );
  return FULL.test(text) || FULL_LENGTH.test(text);
}

const FULL_LENGTH =
  /(?:^|[._])(?:pad_?(?:size|len\w*|to)|block_?size|(?:seq|context|cutoff|text|token|sentence|target|source|model_max|max)_?len(?:gth)?|max_?(?:tokens|words)|n_?ctx)$/i;

/** `len(ids)`, `ids.size(0)`, or a name for it. */
function isCounted(expr: Expr, file: PythonFile): boolean {
  if (/\blen\(|\.shape\b|\.size\(|\.numel\(/.test(file.textOf(expr))) return true;
  const made = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return (
    (made.length > 0 &&
      made.every(({ how }) => how === "iterate" || how === "unpack") &&
      /len|n_|_n$|l$/i.test(file.textOf(expr))) ||
    made.some(({ value }) => value !== null && /\blen\(|\.shape\b|\.size\(/.test(file.textOf(value)))
  );
}

/** In what it is made of or bound to, tokens are spoken of. */
function isOfTokens(call: Call, file: PythonFile): boolean {
  return /\bids?\b|_ids?\b|tok|labels?\b|attention_mask|pad_id|pad_token|text|sentence/i.test(
    file.textOf(statementOf(call) ?? call).slice(0, 200),
  );
}

/** Whether the model is compiled, unless only an option says so which is off by default. */
function compiles({ file, project }: Facts): boolean {
  const isOff = (value: Expr): boolean => {
    const given = (value.kind === "Name" ? file.scopes.onlyValue(value) : null) ?? value;
    return isFalse(given) || defaultOf(given, file, project) === false;
  };
  const calls = file.callsNamed("compile");
  const told = file.calls.given(["torch_compile"]);
  return (
    (file.mentions("torch.compile") &&
      (calls.length === 0 || calls.some((call) => optionBehind(call, file, project) === null))) ||
    (file.mentions("torch_compile") &&
      (told.length === 0 || told.some((call) => !isOff(keyword(call, "torch_compile")!.value))))
  );
}

function isOfImages(file: PythonFile): boolean {
  return OF_IMAGES.some((word) => file.mentions(word));
}

/** `batch = tokenizer(captions, …)`, and `encoder(batch.input_ids, attention_mask=batch.attention_mask)`: whoever reads it is told which tokens are padding. */
function isMasked(call: Call, file: PythonFile): boolean {
  // As long as an encoder of one length has it.
  if (file.mentions("CLIPTokenizer") || /model_max_length/.test(file.textOf(call))) return false;
  let made: Node = call;
  // `tokenizer(captions, …).to(device)`
  while (made.parent?.kind === "Attribute" && made.parent.parent?.kind === "Call") made = made.parent.parent;
  const [target] = made.parent?.kind === "Assign" ? made.parent.targets : [];
  const kept = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (kept ? file.scopes.uses(kept) : []).some(
    ({ parent }) =>
      (parent?.kind === "Attribute" && parent.attr === "attention_mask") ||
      (parent?.kind === "Subscript" &&
        parent.index.kind === "Str" &&
        parent.index.value === "attention_mask") ||
      (parent?.kind === "Arg" && parent.star === 2),
  );
}

function trainsOnAnyShape(facts: Facts): boolean {
  const { file } = facts;
  // Compiled or traced programs want one shape.
  if (
    ONE_SHAPE.some((word) => file.mentions(word)) ||
    file.says(/^[ \t]*(?:import|from) (?:jax|flax)\b/m) ||
    // Unless its collator pads to the longest: then there is not one shape anyway.
    (compiles(facts) &&
      !file.says(/DataCollator(?:WithPadding|ForSeq2Seq)\(/) &&
      !(isCompiledByChoice(file) && padsToLongest(file))) ||
    (file.mentions("torch_xla") && file.says(/(?<!is_)torch_xla/))
  )
    return false;
  // A script that trains, or prepares what another one trains on.
  return (
    /Trainer\b|\.backward\(|TrainingArguments|training_step|\bDataset\b|load_dataset|[Cc]ollat|DataLoader|\.map\(|\blabels\b/.test(
      file.text,
    ) ||
    (facts.project.training.has(file.module) && !OTHER_WORK.test(file.path))
  );
}

/** `if cfg.compile: model = torch.compile(model)`, and nowhere else: there are runs without. */
function isCompiledByChoice(file: PythonFile): boolean {
  const calls = file.callsNamed("compile").filter(({ func }) => file.dotted(func) === "torch.compile");
  return (
    !file.mentions("torch_compile") &&
    calls.length > 0 &&
    calls.every((call) =>
      ancestors(call).some(
        (at) =>
          at.kind === "If" && /^(?:Name|Attribute|Subscript)$/.test(at.test.kind) && !contains(at.test, call),
      ),
    )
  );
}

/** Whether a collator that is written here makes batches as long as their longest example. */
function padsToLongest(file: PythonFile): boolean {
  // `tokenizer.pad(batch)`, with `padding=True` as it is by default
  const pads = file.callsNamed("pad").some((call) => {
    const asked = keyword(call, "padding")?.value ?? null;
    return (
      call.func.kind === "Attribute" &&
      file.dotted(call.func) === null &&
      isTokenizer(call.func.value, file) &&
      (asked === null || isTrue(asked) || (asked.kind === "Str" && asked.value === "longest"))
    );
  });
  if (pads || file.callsNamed("pad_sequence").some((call) => isInCollator(call))) return true;
  // `ids + [pad] * (longest - len(ids))`, of `longest = max(len(one["ids"]) for one in batch)`
  return file.all("Binary").some(({ left, op, right }) => {
    if (op !== "*" || left.kind !== "List" || right.kind !== "Binary" || right.op !== "-") return false;
    const longest = right.left.kind === "Name" ? file.scopes.onlyValue(right.left) : right.left;
    return (
      longest?.kind === "Call" &&
      file.dotted(longest.func) === "builtins.max" &&
      /\blen\(/.test(file.textOf(longest)) &&
      right.right.kind === "Call" &&
      file.dotted(right.right.func) === "builtins.len"
    );
  });
}

/** In `def collate(batch)`, or in the method of a `Collator`. */
function isInCollator(call: Call): boolean {
  const fn = functionOf(call);
  const cls = classOf(call);
  return (fn?.kind === "FunctionDef" && /collat/i.test(fn.name)) || /collat/i.test(cls?.name ?? "");
}

/** What converts or exports a network looks at one example; a library's processor leaves the choice to its caller. */
const OTHER_WORK =
  /(?:^|\/)(?:convert|export|infer|predict|demo|processing|feature_extraction|image_processing)\w*\.py$/;

/** What people call the length that all examples get. */
const FULL = /(?:^|[._])max_?(?:(?:seq|source|target|input|text|sent)\w*_?)?len(?:gth)?$/i;

/** `ids + [pad] * (max_len - len(ids))`, and `while len(ids) < max_len: ids.append(pad)`, of tokens. */
function* byHand(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const isTokens = (expr: Expr): boolean => /ids?$|tok|mask|label/i.test(file.textOf(expr));
  const isRest = (full: Expr, of: Expr): boolean =>
    of.kind === "Call" &&
    file.dotted(of.func) === "builtins.len" &&
    isTokens(of.args[0]!.value) &&
    FULL.test(file.textOf(full)) &&
    !isOfBatch(full, file);
  const seen = new Set<Node | null>();
  // One for each function: mask and labels are padded beside the tokens.
  const first = (at: Node): boolean => {
    const fn = functionOf(at);
    if (seen.has(fn)) return false;
    seen.add(fn);
    return trainsOnAnyShape(facts) && !isOfImages(file);
  };
  for (const times of file.all("Binary")) {
    const { left, op, right } = times;
    if (op !== "*" || left.kind !== "List" || right.kind !== "Binary" || right.op !== "-") continue;
    if (left.items.length === 1 && isRest(right.left, right.right) && first(times))
      yield { at: times, message: MESSAGE };
  }
  for (const { test, body } of file.all("While")) {
    if (test.kind !== "Compare" || test.ops[0] !== "<" || test.rights.length !== 1) continue;
    // What is computed from those before it is generated, not padded.
    const adds = body.every(
      (one) => one.kind === "ExprStmt" && /^[\w.[\]"']+\.append\([\w.[\]"'-]+\)$/.test(file.textOf(one)),
    );
    if (adds && isRest(test.rights[0]!, test.left) && first(test)) yield { at: test, message: MESSAGE };
  }
}

/** `tokenizer.pad(batch, max_length=longest + 1)` of a function that counts that of the batch. */
function isLongestOfBatch(call: Call, file: PythonFile): boolean {
  const length = keyword(call, "max_length")?.value;
  const fn = functionOf(call);
  return (
    fn?.kind === "FunctionDef" &&
    isCollating(call, fn, file) &&
    (length ? namesIn(length) : []).some((name) => isOfBatch(name, file))
  );
}

/** `max_len = max(len(one) for one in batch)`: the longest of its batch. */
function isOfBatch(full: Expr, file: PythonFile): boolean {
  const definitions = full.kind === "Name" ? file.scopes.reaching(full) : [];
  return definitions.some(({ value }) => value !== null && /\bmax\(|len\(/.test(file.textOf(value)));
}

/** By its name, or by what it was loaded with. */
function isTokenizer(callee: Expr, file: PythonFile): boolean {
  if (/tok(?:eniz|$|\b)|tknzr|processor|encode/i.test(file.textOf(callee).slice(0, 60))) return true;
  const [one, ...more] = callee.kind === "Name" ? file.scopes.reaching(callee) : [];
  return (
    more.length === 0 &&
    one?.value?.kind === "Call" &&
    /(?:Tokenizer\w*|Processor)\.from_pretrained$/.test(file.dotted(one.value.func) ?? "")
  );
}

/** `"max_length"`, `PaddingStrategy.MAX_LENGTH` */
function isFixed(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Name") {
    const [one, ...more] = file.scopes.reaching(expr);
    return more.length === 0 && one?.value?.kind === "Str" && one.value.value === "max_length";
  }
  return expr.kind === "Str"
    ? expr.value === "max_length"
    : expr.kind === "Attribute" && (file.dotted(expr) ?? "").endsWith("PaddingStrategy.MAX_LENGTH");
}

/** Settings bound to a name that a tokenizer is then given with `**`. */
function isHandedOn(settings: Expr, file: PythonFile): boolean {
  const assign = settings.parent;
  const [target] = assign?.kind === "Assign" ? assign.targets : [];
  const own = target ? selfAttribute(target) : null;
  const cls = own === null ? null : classOf(settings);
  const uses =
    settings.parent?.kind === "Arg"
      ? [settings]
      : target?.kind === "Name"
        ? file.scopes.uses(file.scopes.definitionAt(target)!)
        : // `self.tokenizer(text, **self.settings)`
          cls
          ? file.all("Attribute").filter((one) => selfAttribute(one) === own && classOf(one) === cls)
          : [];
  return uses.some(
    ({ parent }) =>
      parent?.kind === "Arg" &&
      parent.star === 2 &&
      parent.parent?.kind === "Call" &&
      /tok|processor|encode|collator/i.test(file.textOf(parent.parent.func).slice(0, 60)),
  );
}

import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Lambda, Name, Node } from "../../python/tree.ts";
import { returnsByName } from "./returns.ts";
import { COLLATE_KEYWORDS } from "./worker-data.ts";

/**
 * What a call of a tokenizer or a collator that pads to a full length may say instead, where it is seen that all that is made
 * of the tokens keeps fitting: "True" where the batch is put together, "False" before that, with a collator that pads.
 */
export function paddedLater(call: Call, collates: boolean, file: PythonFile): "True" | "False" | null {
  if (file.says(ONE_LENGTH) || asksFor(call, /^(?:np|numpy|tf|jax)$/) || joinsBatches(file)) return null;
  if (collates) return isOfBatchAlone(call, file) ? "True" : null;
  return !UNPADDED.some((word) => keyword(call, word)) &&
    call.args.every(({ star }) => star === 0) &&
    !file.says(STACKS) &&
    !file.says(COPIED_LABELS) &&
    isHandedOnWhole(call, file) &&
    collatedByLibrary(file)
    ? "False"
    : null;
}

/** Where every new shape is compiled anew. */
const ONE_LENGTH = /\b(?:jax|flax|TPU|XLA|xm)\b|(?<!is_)torch_xla/;

/** What makes one tensor, or more rows than there are examples, of what is not padded. */
const UNPADDED = ["return_tensors", "return_overflowing_tokens", "return_offsets_mapping", "stride"];

/** What puts examples together that are of one length, or one behind the other. */
const STACKS =
  /\bdefault_data_collator\b|\bdefault_collate\b|\bTensorDataset\b|\bto_tf_dataset\b|group_texts|\bpacking\s*=\s*True/;

/** Labels of tokens, which no collator of a tokenizer pads as it does those. */
const COPIED_LABELS = /["']labels?["']\]?\s*[=:](?!=)[^\n]*(?:input_ids|tok)/i;

const OWN_LABELS = /["']labels?["']\]\s*=(?!=)|["']labels?["']\s*:/;

function asksFor(call: Call, kinds: RegExp): boolean {
  const asked = keyword(call, "return_tensors")?.value;
  return asked?.kind === "Str" && kinds.test(asked.value ?? "");
}

/** `torch.cat(all_outputs)`, `np.concatenate([one for one in kept])`; not `torch.cat([a, b])`, nor ranks that pad to each other. */
function joinsBatches(file: PythonFile): boolean {
  return (
    file.callsNamed("cat", "concat", "concatenate", "stack", "vstack", "hstack").some((call) => {
      const joined = positional(call, 0);
      return (
        /^(?:torch|numpy)\./.test(file.dotted(call.func) ?? "") &&
        joined !== null &&
        joined.kind !== "List" &&
        joined.kind !== "Tuple"
      );
    }) ||
    (file.callsNamed("gather", "gather_for_metrics", "all_gather").length > 0 &&
      !file.mentions("pad_across_processes"))
  );
}

const COLLATORS = /^transformers\.(?:\w+\.)*DataCollator(?:WithPadding|ForSeq2Seq|ForLanguageModeling)$/;

/** A collator of the library, or `tokenizer.pad` of a batch, of which nothing is cut and whose length nothing else has. */
function isOfBatchAlone(call: Call, file: PythonFile): boolean {
  if (COLLATORS.test(file.dotted(call.func) ?? "")) return true;
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || !isCollating(call, fn, file)) return false;
  const length = keyword(call, "max_length")?.value;
  const word = length && lastWord(length);
  const own = file.textOf(fn);
  const isOnly = !word || own.split(new RegExp(`\\b${word}\\b`)).length <= 2 + Number(word === "max_length");
  return isOnly && !file.all("Slice").some((slice) => contains(fn, slice));
}

/** `def collate(batch)`, the method of a `Collator`, or what a loader or a Trainer here is given to put batches together with. */
export function isCollating(call: Call, fn: FunctionDef, file: PythonFile): boolean {
  const cls = classOf(call);
  return (
    /collat/i.test(fn.name) ||
    /collat/i.test(cls?.name ?? "") ||
    usesOf(fn, file).some(
      ({ parent }) => parent?.kind === "Arg" && COLLATE_KEYWORDS.includes(parent.name ?? ""),
    )
  );
}

/** Wherever a function is spoken of: `tokenize`, and of a method `self.tokenize`. */
function usesOf(fn: FunctionDef, file: PythonFile): readonly Expr[] {
  if (fn.parent?.kind === "ClassDef") return file.all("Attribute").filter(({ attr }) => attr === fn.name);
  const made = file.scopes.definitionAt(fn);
  return made ? file.scopes.uses(made) : [];
}

/** What it makes is handed on as it is, example by example, by `dataset.map` or as an item of a dataset. */
function isHandedOnWhole(call: Call, file: PythonFile, depth = 0): boolean {
  const fn = functionOf(call);
  if (!fn || depth > 3) return false;
  if (fn.kind === "Lambda") return fn.body === call && isMapped(fn);
  const { parent } = call;
  if (parent?.kind === "Assign") {
    const [target, ...more] = parent.targets;
    const made = target?.kind === "Name" && more.length === 0 ? file.scopes.definitionAt(target) : null;
    if (!made || !file.scopes.uses(made).every((use) => isReturnedOrLabelled(use, file))) return false;
  } else if (parent?.kind !== "Return") return false;
  if (fn.name === "__getitem__") return true;
  const uses = usesOf(fn, file);
  return (
    uses.length > 0 &&
    uses.every(
      (use) =>
        isMapped(use) ||
        (use.parent?.kind === "Call" &&
          use.parent.func === use &&
          isHandedOnWhole(use.parent, file, depth + 1)),
    )
  );
}

/** `dataset.map(tokenize, batched=True)` */
function isMapped({ parent }: Expr | Lambda): boolean {
  return (
    parent?.kind === "Arg" &&
    parent.star === 0 &&
    parent.parent?.kind === "Call" &&
    /^(?:map|with_transform|set_transform)$/.test(lastWord(parent.parent.func))
  );
}

/** `return tokens`, and `tokens["label"] = examples["label"]`. */
function isReturnedOrLabelled(use: Name, file: PythonFile): boolean {
  const { parent } = use;
  if (parent?.kind === "Return") return true;
  return (
    parent?.kind === "Subscript" &&
    parent.value === use &&
    parent.index.kind === "Str" &&
    /^labels?$/.test(parent.index.value ?? "") &&
    parent.parent?.kind === "Assign" &&
    parent.parent.targets[0] === (parent as Node) &&
    !/input_ids|tok|pad|max_|mask/i.test(file.textOf(parent.parent.value)) &&
    !namesIn(parent.parent.value).some(({ id }) => id === use.id)
  );
}

/** All that makes batches in this file is given a collator that pads the tokens, and as far as they are of their length, the labels. */
function collatedByLibrary(file: PythonFile): boolean {
  const made = file.calls.matching(/(?:Trainer|DataLoader)$/);
  const given = made.map((call) => COLLATE_KEYWORDS.flatMap((word) => keyword(call, word)?.value ?? []));
  return given.length > 0 && given.every(([one]) => one !== undefined && isPadding(one, file));
}

function isPadding(collator: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 4) return false;
  const again = (one: Expr): boolean => isPadding(one, file, depth + 1);
  if (collator.kind === "IfExp") return again(collator.body) && again(collator.orelse);
  if (collator.kind === "Name") {
    const reaching = file.scopes.reaching(collator);
    return (
      reaching.length > 0 &&
      reaching.every(({ how, value }) => how === "assign" && value !== null && again(value))
    );
  }
  if (collator.kind !== "Call") return false;
  const name = file.dotted(collator.func) ?? "";
  if (COLLATORS.test(name)) return !name.endsWith("LanguageModeling") || !file.says(OWN_LABELS);
  const returned = file.once(returnsByName).get(name) ?? [];
  return returned.length > 0 && returned.every(again);
}

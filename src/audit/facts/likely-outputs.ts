import { isFalse } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { soundsComputed } from "./likely.ts";
import { saidOf } from "./likely-puts.ts";
import { networkCall } from "./networks.ts";

/** What is likely an output of a network that an evaluation goes through, by its name and by what it is computed of. */

/** A number an example, or brought to the host. */
export function isSmall(added: Expr, file: PythonFile): boolean {
  const own = file.textOf(added);
  if (added.kind === "Compare" || /->\w?["']/.test(own)) return true;
  const made =
    added.kind === "Name"
      ? file.scopes.reaching(added).map(({ value }) => (value ? file.textOf(value) : ""))
      : [];
  if (/loss/.test(own) || made.some((text) => /\bpipe(?:line)?\(/.test(text))) return true;
  if (added.kind === "Subscript" && /score/.test(nameOf(added))) return true;
  return (
    [own, ...made].some((text) =>
      /\.(?:argmax|topk|mean|sum|norm|max|min|any|all|eq|numel|size|item|tolist)\(\s*(?:-?\d|dim|axis)?[^()]*\)$|(?<!\.)\bfloat\(|\b(?:int|len|str|bool|decode|batch_decode|accuracy|metric)\(|(?:loss|criterion)\w*\(|^\W*(?:np|numpy|cv2|os|Image)\./.test(
        text,
      ),
    ) ||
    /\.(?:cpu|numpy|tolist|item)\(|\.to\((?:device=)?(?:torch\.device\()?["']cpu|to_numpy|to_list|np\./.test(
      saidOf(added, file),
    )
  );
}

/** What a network gave, by its name or by what it is computed of; the first of two things handed back together may be either. */
export function isLikelyOutput(whole: Expr, facts: Facts): boolean {
  if (networkCall(whole, facts)) return true;
  const { what, device } = facts.value(whole);
  const added = bare(whole);
  if (device === "cpu") return false;
  const made = added.kind === "Name" ? facts.file.scopes.reaching(added) : [];
  if (made.some(({ how }) => how === "iterate")) return false;
  if (soundsComputed(nameOf(added))) return true;
  const taken = added.kind === "Subscript" || made.some(({ how }) => how !== "assign");
  const large = what === "tensor" || what === "output" || LIKE_INPUT.test(nameOf(added));
  return !taken && large && NETWORK.test(saidOf(added, facts.file));
}

/** By its name as large as what goes in. */
const LIKE_INPUT =
  /(?:^|_)(?:hat|gen|fakes?|mels?|frames|clips|images?|imgs|samples|masks?|maps?|recons?)(?:_|$)/;

const NETWORK =
  /\b(?:self\.)?(?:\w*(?:model|net|network|encoder|decoder|generator|module|backbone|classifier)|G|netG)(?:\.\w+)?\(/i;

/** Methods of an object around a network that run it for one batch of an evaluation. */
const EVALUATES =
  /^(?:eval|evaluate|(?:eval|val|valid|validation|test)_(?:step|batch|one_batch)|evaluate_(?:step|batch))$/;

/** By its name what a network made of a batch, and no number. */
const MADE =
  /^(?:y|y_?hat|x_?hat|out|outs|recons?|reconstructions?|\w*(?:preds?|predictions?|outputs?|logits|probs|images?|imgs?|samples|masks?|embeddings?|feats?|features))$/;

/** The call of a method that evaluates a batch, of what it gave, of one of its parts, or of an entry of such a part: `info["merged"]`. */
export function methodBehind(added: Expr, facts: Facts): Call | null {
  const { file } = facts;
  let from = bare(added);
  for (let depth = 0; depth < 4; depth++) {
    // By its name a picture or a row of scores; another entry may be a loss as well.
    if (depth === 0 && !MADE.test(nameOf(from))) return null;
    if (from.kind === "Subscript") {
      from = from.value;
      continue;
    }
    const [one, ...more] = from.kind === "Name" ? file.scopes.reaching(from) : [];
    const value = one && more.length === 0 && /^(?:assign|unpack)$/.test(one.how) ? one.value : null;
    if (value?.kind === "Call") return isOfEvaluation(value, facts) ? value : null;
    if (value?.kind !== "Subscript" || one!.how !== "assign") return null;
    from = value;
  }
  return null;
}

/** `pred` of `pred.detach()`, `pred.data` and `pred.squeeze(1).float()`: as large as it was, and where it was. */
function bare(expr: Expr): Expr {
  if (expr.kind === "Attribute" && expr.attr === "data") return bare(expr.value);
  return expr.kind === "Call" && expr.func.kind === "Attribute" && SAME.test(expr.func.attr)
    ? bare(expr.func.value)
    : expr;
}

const SAME = /^(?:detach|clone|contiguous|float|half|squeeze|unsqueeze|view|reshape|flatten|permute)$/;

/** `recon`, also of `out["recon"]` and of `recon.detach()`. */
export function nameOf(whole: Expr): string {
  const expr = bare(whole);
  if (expr.kind === "Name") return expr.id;
  return expr.kind === "Subscript" && expr.index.kind === "Str" ? (expr.index.value ?? "") : "";
}

/** `trainer.eval(x)`, or under `no_grad` a method that is told not to train: `model.update(x, y, training=False)`. */
function isOfEvaluation(call: Call, facts: Facts): boolean {
  if (call.func.kind !== "Attribute" || call.args.length === 0) return false;
  if (EVALUATES.test(call.func.attr)) return true;
  return (
    facts.file.dotted(call.func) === null &&
    call.args.some(({ name, value }) => name !== null && TRAINS.test(name) && isFalse(value)) &&
    facts.gradMode(call) === "off"
  );
}

const TRAINS = /^(?:is_?)?train(?:ing)?$/;

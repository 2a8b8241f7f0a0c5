import { isFalse, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Assign, Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import { validationStep } from "../facts/facts.ts";
import type { Facts } from "../facts/facts.ts";
import { onTensor } from "../facts/on-tensor.ts";
import { handedToKeepers } from "../facts/keepers.ts";
import { keptByEvaluators } from "../facts/kept-by-evaluators.ts";
import { isMaybeNumber, keeps, parts } from "../facts/kept.ts";
import { isKeptForHost } from "../facts/placed-later.ts";
import { isEvaluating, isOlderThan, puts } from "../facts/likely-puts.ts";
import { iteratedText } from "../facts/loaders.ts";
import { isNetwork, networkCall, runsReturnedTo } from "../facts/networks.ts";
import { callsOf, paramGiven } from "../facts/returns.ts";
import { loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { methodRun, runOfViews } from "../facts/view-runs.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsOfKind } from "../facts/assigns.ts";
import { isLikelyOutput, isSmall, methodBehind, nameOf } from "../facts/likely-outputs.ts";

export const rule: Rule = {
  meta: {
    code: "PLM003",
    name: "evaluation-keeps-outputs-on-device",
    summary: "An evaluation loop collects a network's outputs on the device, for the whole dataset",
    severity: "warning",
    fix: "unsafe",
    patterns: [3],
    inTraining: true,
  },
  *check(facts) {
    if (!facts.accelerator) return;
    for (const finding of outputs(facts)) {
      const { fix, ...rest } = finding;
      const added = finding.at as Expr;
      if (isJoinedByNumPy(added, facts) || isOfDetector(added, facts)) continue;
      yield fix && isKeptForHost(added, facts) ? finding : rest;
    }
  },
};

function* outputs(facts: Facts): Generator<Finding> {
  for (const keep of keeps(facts)) {
    // What a batch gave, piece by piece: `bank[key] = feature`. Appended, the pieces may be anything, texts among them.
    const named = keep.loop?.kind === "For" && isWritten(keep.loop.iter);
    const loop = keep.loop && (keep.at.kind === "Assign" || named) ? batchesOf(keep.loop, facts) : keep.loop;
    // A list that dies with the batch.
    if (loop && loop !== keep.loop && isBegunIn(keep.root, loop, facts)) continue;
    const through = loop ? goneThrough(loop, facts) : null;
    if (keep.how === "list" && loop && through && !isComparedWith(keep.root, facts))
      for (const finding of pieces(keep.added, facts).flatMap((piece) => [
        ...judge(piece, loop, through, `\`${facts.file.textOf(keep.root)}\``, facts),
      ]))
        // What is spread into the list may be anything that can be gone through.
        yield loop !== keep.loop || loop.kind !== "For" || (keep.at.kind === "Call" && isExtend(keep.at))
          ? { ...finding, severity: "note" }
          : finding;
  }
  for (const { parent } of facts.file.callsNamed("cat", "concat", "concatenate", "hstack", "vstack")) {
    const statement = parent?.kind === "IfExp" ? parent.parent : parent;
    if (statement?.kind !== "Assign") continue;
    const grown = grownBy(statement, facts);
    const [loop] = loopsAround(statement);
    if (!grown || loop?.kind !== "For") continue;
    const target = statement.targets[0] as Name;
    for (const finding of judge(grown, loop, loop.iter, `\`${target.id}\``, facts)) {
      const { fix, ...rest } = finding;
      yield fix && isBegunOnDevice(target, statement, facts) ? rest : finding;
    }
  }
  yield* nested(facts);
  yield* comprehensions(facts);
  yield* steps(facts);
  yield* onSelf(facts);
  yield* byEvaluator(facts);
  yield* byMeter(facts);
  yield* byRows(facts);
  if (!facts.guesses) return;
  yield* likelyKept(facts);
  for (const { added, root } of keptByEvaluators(facts)) {
    const { at, message } = keptOf(added, `\`${facts.file.textOf(root)}\``, facts);
    yield { at, message };
  }
}

/** `model(return_loss=False, **batch)`: asked for its results and no loss, a detector of OpenMMLab gives lists of arrays, or of dicts, on the host. */
function isOfDetector(added: Expr, { file }: Facts): boolean {
  const made = added.kind === "Name" ? file.scopes.onlyValue(added) : added;
  return made?.kind === "Call" && isFalse(keyword(made, "return_loss")?.value ?? null);
}

/** `np.concatenate(kept)` takes nothing that is on a device: what is kept are arrays, or tensors of the host. */
function isJoinedByNumPy(added: Expr, { file }: Facts): boolean {
  const call = added.parent?.kind === "Arg" ? added.parent.parent : null;
  const list = call?.kind === "Call" && call.func.kind === "Attribute" ? call.func.value : null;
  if (list?.kind !== "Name" || lastWord((call as Call).func) !== "append") return false;
  return file.scopes
    .reaching(list)
    .flatMap((one) => file.scopes.uses(one))
    .some(
      ({ parent }) =>
        parent?.kind === "Arg" &&
        parent.parent?.kind === "Call" &&
        /^numpy\.(?:concatenate|v?stack|hstack|array|asarray)$/.test(file.dotted(parent.parent.func) ?? ""),
    );
}

/**
 * What is by its name or its making an output, put beside others in a loop of an evaluation: into a list, an entry of a dictionary,
 * a tensor that grows, by whatever it is handed to, and wherever the network is run.
 */
function* likelyKept(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { at, root, added } of puts(facts)) {
    const [loop] = loopsAround(at);
    if (!loop || isOfOneBatch(loop, facts) || !isEvaluating(at, facts) || isOfPipeline(at)) continue;
    // What a metric or a set is told it need not keep.
    if (at.kind === "Call" && lastWord(at.func) === "add") continue;
    const over = loop.kind === "For" ? iteratedText(loop.iter, file) : file.textOf(loop.test);
    if (!OVER_DATA.test(over) || NO_DATA.test(over) || isBrokenOff(loop, facts)) continue;
    if (NUMBERS.test(lastWord(added)) || NUMBERS.test(nameOf(added)) || isSmall(added, file)) continue;
    if (!isLikelyOutput(added, facts) || !isOlderThan(root, loop, facts) || isMoved(root, loop, file))
      continue;
    if (isComparedWith(root, facts) || isShown(root, file)) continue;
    // `batch[key] = batch[key].cuda()`
    if (file.textOf(added).includes(`${file.textOf(root)}[`)) continue;
    const { at: place, message } = keptOf(added, `\`${file.textOf(root)}\``, facts);
    yield { at: place, message };
  }
}

/** `imageio.mimsave(path, video)`, `make_grid(torch.stack(made))`: a film of arrays, or a few for one picture. */
function isShown(root: Expr, file: PythonFile): boolean {
  const name = file
    .textOf(root)
    .replace(/[^\w.]/g, "")
    .replaceAll(".", "\\.");
  const [, grid] = new RegExp(`(\\w+) = torch\\.(?:stack|cat)\\(${name}\\b`).exec(file.bare) ?? [];
  return (
    new RegExp(`\\b(?:mimsave|mimwrite|write_video|ImageSequenceClip)\\([^\\n]*\\b${name}\\b`).test(
      file.bare,
    ) ||
    (grid !== undefined && new RegExp(`\\bmake_grid\\(${grid}\\b`).test(file.bare)) ||
    new RegExp(`\\bmake_grid\\([^\\n]*\\b${name}\\b`).test(file.bare)
  );
}

/** `class DreamPipeline:` answers one prompt, and goes through its images. */
const isOfPipeline = (at: Node): boolean => /Pipeline/.test(classOf(at)?.name ?? "");

/** By its name what an evaluation goes through. */
const OVER_DATA =
  /load|batch|data|dl\b|valid|val_|test|eval|(?:^|_)iter(?:ator)?\b(?!\()|generator|bar\b|queue|samples|videos|images|clips|queries/i;

/** And what is none of it: steps of a sampler, layers, folds. */
const NO_DATA =
  /\brange\((?!\s*len\(\s*[\w.]*(?:load|data|dl\b))|time_?steps|layers|blocks|modules|children|parameters|epochs|folds|metrics|named_|\.split\(|\.chunk\(|\.(?:items|keys|values)\(/i;

/** By their names numbers, or nothing that is computed. */
const NUMBERS =
  /loss|acc(?:uracy)?\d?$|metric|(?:^|_)(?:iou|dice|psnr|ssim|mae|mse|bleu|wer|cer|auc|ap|f1|recall|precision|correct|hits?|rewards?|returns?|count|counts|num|len|lens|length|lengths|size|sizes|time|times|dist|distance|errors?|lr|name|names|path|paths|file|files|filename|id|ids|idx|index|indices|key|keys|text|texts|caption|captions|words|tokens|str|string|info|meta|res|result|stats|labels?|targets?|boxes|prob)$|^[nk]$/i;

/** `kept = [x.cpu() for x in kept]`, or cleared, in the loop itself. */
function isMoved(root: Expr, loop: Node, file: PythonFile): boolean {
  const name = file.textOf(root).replace(/[^\w.]/g, "");
  return new RegExp(
    `\\b${name.replaceAll(".", "\\.")}(?:\\.clear\\(|\\.pop\\(|\\[-?\\w*\\]\\.cpu\\()|del ${name}\\b|in ${name}\\]`,
  ).test(file.codeOf(loop));
}

/** `metric.update(model(x), y)`, where `update` lists what it is given until all of it is asked for. */
function* byMeter(facts: Facts): Generator<Finding> {
  for (const { call, arg } of handedToKeepers(facts, "list")) {
    const [loop] = loopsAround(call);
    if (loop?.kind !== "For") continue;
    for (const finding of judge(arg, loop, loop.iter, `\`${facts.file.textOf(call.func)}\``, facts))
      yield { ...finding, severity: "note" };
  }
}

/** `rows = torch.zeros(len(dataset), classes, device=device)`, and `rows[first:last] = model(x)`: as long as the dataset from the beginning. */
function* byRows(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { targets, value } of assignsOfKind("Subscript", file)) {
    const [target] = targets;
    if (target?.kind !== "Subscript" || target.value.kind !== "Name" || !isOfRows(target.index)) continue;
    const [loop] = loopsAround(target);
    const made = loop?.kind === "For" ? file.scopes.onlyValue(target.value) : null;
    if (loop?.kind !== "For" || !made || contains(loop, made) || !isLongAsDataset(file.textOf(made)))
      continue;
    for (const finding of judge(value, loop, loop.iter, `\`${target.value.id}\``, facts))
      yield { at: finding.at, message: finding.message, severity: "note" };
  }
}

/** `[first:last]`, `[first:last, :]` and `[ids]`, but no single entry by its number. */
function isOfRows(index: Expr): boolean {
  return index.kind === "Tuple"
    ? index.items[0]?.kind === "Slice"
    : index.kind === "Slice" || index.kind === "Name";
}

/** `torch.zeros(len(dataset), n, device=device)`, `torch.empty(num_samples, n).cuda()` */
function isLongAsDataset(made: string): boolean {
  return (
    /^torch\.(?:zeros|empty|ones|full)\(/.test(made) &&
    /len\([\w.]*(?:data|loader|set)\w*\)|\b(?:num|n|total)_(?:samples|examples|images|items|nodes)\b/.test(
      made,
    ) &&
    /device=(?!["']cpu)|\.cuda\(|\.to\(/.test(made)
  );
}

/** `loss, recon = trainer.eval(x)`, and `recons.append(recon)` for each batch of what is kept apart. */
function* byEvaluator(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { added, how, loop, root } of keeps(facts)) {
    if (how !== "list" || loop?.kind !== "For") continue;
    const call = methodBehind(added, facts);
    if (!call || !contains(loop, call)) continue;
    if (!/val|test|eval|dev/i.test(iteratedText(loop.iter, file)) || isBrokenOff(loop, facts)) continue;
    yield {
      ...keptOf(added, `\`${file.textOf(root)}\``, facts),
      severity: "note",
    };
  }
}

/** `if count >= wanted: break`: a handful of batches. */
function isBrokenOff(loop: Loop, { file }: Facts): boolean {
  return file.all("Break").some((one) => contains(loop, one) && loopsAround(one)[0] === loop);
}

/** What a loop goes through: its batches, or how many of them, `while step < args.eval_iters`, that each turn asks for by itself. */
function goneThrough(loop: Loop, facts: Facts): Expr | null {
  const { file } = facts;
  if (loop.kind === "For") return loop.iter;
  const fn = functionOf(loop);
  const evaluates =
    facts.gradMode(loop) === "off" ||
    (fn?.kind === "FunctionDef" && /eval|valid|(?:^|_)(?:val|test|predict|infer)/i.test(fn.name));
  return evaluates && file.callsNamed("next", "next_batch", "get_batch").some((call) => contains(loop, call))
    ? loop.test
    : null;
}

/** `bank = torch.cat(bank)`, and `torch.mm(features, bank)`: every batch is held against all of them, on the device. */
function isComparedWith(list: Expr, { file }: Facts): boolean {
  if (list.kind !== "Name") return false;
  const fn = functionOf(list);
  const joins = file
    .callsNamed("cat", "concat", "stack", "vstack")
    .filter(({ args }) => args[0]?.value.kind === "Name" && args[0].value.id === list.id);
  const joined = new Set(
    joins.flatMap((join) => {
      const statement = functionOf(join) === fn ? statementOf(join) : null;
      const target = statement?.kind === "Assign" ? statement.targets[0] : null;
      return target?.kind === "Name" ? [target.id] : [];
    }),
  );
  const isJoined = (one: Expr): boolean => lastName(one) !== null && joined.has(lastName(one)!);
  return (
    joined.size > 0 &&
    (file
      .callsNamed("mm", "matmul", "bmm", "einsum", "cdist", "cosine_similarity")
      .some((call) => functionOf(call) === fn && call.args.some(({ value }) => isJoined(value))) ||
      file
        .all("Binary")
        .some(
          (one) => one.op === "@" && functionOf(one) === fn && (isJoined(one.left) || isJoined(one.right)),
        ))
  );
}

/** `bank`, also of `bank.t()` and `bank.T` */
function lastName(expr: Expr): string | null {
  if (expr.kind === "Name") return expr.id;
  if (expr.kind === "Call" && expr.func.kind === "Attribute") return lastName(expr.func.value);
  return expr.kind === "Attribute" ? lastName(expr.value) : null;
}

/** The loop over batches, also from one inside it that goes through what a batch gave. */
function batchesOf(loop: Loop, facts: Facts): Loop {
  const [around] = loopsAround(loop);
  const through =
    loop.kind === "For" &&
    (/^(?:zip|enumerate)\(|\.(?:items|keys|values)\(\)$/.test(facts.file.textOf(loop.iter)) ||
      isWritten(loop.iter));
  return through && around && !/load|batch|data/i.test(facts.file.textOf(loop.iter)) ? around : loop;
}

function isBegunIn(list: Expr, loop: Loop, { file: { scopes } }: Facts): boolean {
  const made = list.kind === "Name" ? (scopes.lookup(list)?.definitions ?? []) : [];
  return made.some(({ how, node }) => how === "assign" && contains(loop, node));
}

/** `for key in ("boxes", "masks"):` */
function isWritten(iter: Expr): boolean {
  return iter.kind === "Tuple" || iter.kind === "List";
}

/** A function inside the evaluation's, called for each of its batches, that fills the evaluation's list. */
function* nested(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("append")) {
    const fn = functionOf(call);
    const around = fn && functionOf(fn);
    if (call.func.kind !== "Attribute" || fn?.kind !== "FunctionDef" || !around || call.args.length !== 1)
      continue;
    const list = call.func.value;
    if (
      list.kind !== "Name" ||
      file.scopes.lookup(list)?.scope.node !== around ||
      loopsAround(call).length > 0
    )
      continue;
    const run = file
      .callsNamed(fn.name)
      .find((one) => functionOf(one) === around && one.func.kind === "Name");
    const loop = run && loopsAround(run)[0];
    if (!run || loop?.kind !== "For" || facts.gradMode(run) !== "off") continue;
    for (const part of parts(call.args[0]!.value, facts)) {
      const source = networkCall(part, facts);
      if (!source || !contains(fn, source)) continue;
      yield* found(part, loop.iter, `\`${list.id}\``, source, facts);
    }
  }
}

function isExtend(call: Call): boolean {
  return call.func.kind === "Attribute" && call.func.attr === "extend";
}

/** Whether gradients may be off somewhere in the loop: asked before what costs more. */
function mayBeOff(loop: Node, facts: Facts): boolean {
  const inside = (one: Node): boolean => contains(loop, one);
  return (
    facts.gradMode(loop) === "off" ||
    facts.networks.someOnlyEvaluated ||
    facts.file.callsNamed("detach").some(inside) ||
    facts.file.all("With").some(inside) ||
    facts.file.all("FunctionDef").some(inside) ||
    facts.file.callsNamed(...facts.file.once(switchOff)).some(inside)
  );
}

/** Names of the functions of a file that switch gradients off, for all that they do or for a part of it. */
function switchOff(file: PythonFile): readonly string[] {
  const around = file.callsNamed("no_grad", "inference_mode").flatMap((off) => {
    const fn = ancestors(off).find((at) => at.kind === "FunctionDef");
    return fn?.kind === "FunctionDef" ? [fn.name] : [];
  });
  return [...new Set(around)];
}

/** `logits, labels = eval_step(net, batch)`, which runs the network under `no_grad` itself. */
function isUnrecorded(source: Call, facts: Facts): boolean {
  if (facts.gradMode(source) === "off") return true;
  const runs = isNetwork(source.func, facts) ? [] : runsReturnedTo(source, facts);
  return runs.length > 0 && runs.every((run) => facts.gradMode(run) === "off");
}

function* judge(added: Expr, loop: Node, iter: Expr, into: string, facts: Facts): Generator<Finding> {
  if (!mayBeOff(loop, facts) || isOfOneBatch(loop, facts)) return;
  const plain = networkCall(added, facts) ?? methodRun(added, facts);
  const source = plain ?? runOfViews(added, loop, facts) ?? runOnOneWay(added, facts);
  if (!source || !contains(loop, source)) return;
  const hot = facts.hot(source);
  // Without no_grad as well, where the network is only ever evaluated, or what is kept is cut off from its graph.
  if (
    !isUnrecorded(source, facts) &&
    !facts.networks.isOnlyEvaluated(source.func) &&
    !(isDetached(added) && /val|test|eval/i.test(facts.file.textOf(iter)))
  )
    return;
  // Beside a step's own outputs; an evaluation now and then stands in the same loop.
  if (hot && facts.frequency(source, hot.within) !== "throttled") return;
  for (const finding of found(added, iter, into, source, facts))
    yield plain ? finding : { ...finding, severity: "note" };
}

/** `if views > 1: out = out.unfold(0, views, views).mean(2)`: without that option it is what the network gave. */
function runOnOneWay(added: Expr, facts: Facts): Call | null {
  const { file } = facts;
  const made = added.kind === "Name" ? file.scopes.reaching(added) : [];
  const isOfItself = (value: Expr): boolean => {
    let from = value;
    while (from.kind === "Subscript" || from.kind === "Attribute" || from.kind === "Call")
      from = from.kind === "Call" ? from.func : from.value;
    return from.kind === "Name" && from.id === (added as Name).id;
  };
  let run: Call | null = null;
  for (const { how, value } of made) {
    if (how !== "assign" || !value) return null;
    if (isOfItself(value)) {
      if (LEAVES_DEVICE.test(file.textOf(value))) return null;
      continue;
    }
    run = networkCall(value, facts);
    if (!run) return null;
  }
  return made.length > 1 ? run : null;
}

/** Copied to the host, or chosen from. */
const LEAVES_DEVICE = /\.(?:cpu|numpy|tolist|item|to|argmax|max|topk)\(/;

/** `outputs.append(logits.detach())` */
function isDetached(added: Expr): boolean {
  return added.kind === "Call" && added.func.kind === "Attribute" && added.func.attr === "detach";
}

/** `rows = torch.empty(0, device=device)`, which what is joined to it must be beside. */
function isBegunOnDevice(grown: Name, statement: Assign, { file }: Facts): boolean {
  const begun = file.scopes.lookup(grown)?.definitions ?? [];
  return begun.some(
    ({ node, value }) =>
      !contains(statement, node) && value?.kind === "Call" && /device|cuda|\.to\(/.test(file.textOf(value)),
  );
}

/** In a module's forward: what it goes through is one batch. */
function isOfOneBatch(loop: Node, facts: Facts): boolean {
  const fn = functionOf(loop);
  const cls = fn?.kind === "FunctionDef" && fn.name === "forward" ? classOf(fn) : null;
  return cls !== null && facts.role(cls) === "module";
}

function* found(added: Expr, iter: Expr, into: string, source: Call, facts: Facts): Generator<Finding> {
  // Over the batches of a loader; over a handful of heads or scales it is small.
  const over = iteratedText(iter, facts.file)
    // `tqdm(range(eval_iters), total=eval_iters)`
    .replace(/^(?:\w+\.)?(?:tqdm|track)\((range\([\w.]+\)).*\)$/s, "$1")
    .replace(/\w*batch_?size\w*|\[[^\]"']*:[^\]"']*\]/gi, "");
  // Pieces of a tensor that is on the device already are no larger together than it.
  const counted =
    /^range\(\s*(?:[\w.]*(?:eval|val|test)\w*(?:iter|step|batch)\w*|len\(\s*[\w.]*loader\w*\s*\))\s*\)$/i.test(
      over,
    );
  // Of a corpus that is a tensor itself, each token becomes a row of the vocabulary's size.
  const rows = /\brange\([^)]*(?:data|source|corpus)/i.test(over) && facts.file.says(/vocab|n_?tokens\b/i);
  const loads = /load|batch|data|dl\b|valid|test/i.test(over) || loopsAround(source)[0]?.kind === "While";
  // `for batch in val_iter:` is one as often as not, and so is what is asked for a part of the data, or for its order.
  const iterates =
    /(?:^|_|\b)(?:val|eval)_|iter(?:ator)?s?\b|\.iterate\w*\((?!["'])|[(\s](?:(?:shuffle|split|subset|phase|fold)=|mode=["'](?:val|dev|eval))/i.test(
      over,
    );
  if (!counted && !rows && ((!loads && !iterates) || /\brange\(|\.(?:split|chunk)\(/.test(over))) return;
  // One number an example: small for any dataset.
  if (
    /scores?["'\]]*$|loss["'\]]*$|rewards?["'\]]*$/.test(facts.file.textOf(added)) &&
    !(
      added.kind === "Name" &&
      facts.file.scopes.reaching(added).every(({ value }) => value === source) &&
      !facts.networks.isLoss(source.func)
    )
  )
    return;
  if (isMaybeNumber(added)) return;
  // A normalized embedding is a few hundred numbers an example, a label is one.
  const small =
    added.kind === "Name" &&
    facts.file.scopes
      .reaching(added)
      .some(({ value }) => value && /\bnormalize\(|\bargmax\(/.test(facts.file.textOf(value)));
  yield {
    at: added,
    ...(small || rows || !isNetwork(source.func, facts) || !(counted || loads)
      ? { severity: "note" as const }
      : {}),
    message: `${into} keeps the outputs of every batch on the device: its memory grows with the dataset`,
    fix: { grade: "unsafe", title: "Keep them on the host", edits: onTensor(added, ".cpu()", facts) },
  };
}

/** `all = torch.cat([all, out])`, also under `if all is None`. */
function grownBy(statement: Assign, facts: Facts): Expr | null {
  const [target] = statement.targets;
  if (statement.targets.length !== 1 || target?.kind !== "Name") return null;
  const value = statement.value.kind === "IfExp" ? statement.value.orelse : statement.value;
  if (
    value.kind !== "Call" ||
    !/^torch\.(?:cat|concat|concatenate|hstack|vstack)$/.test(facts.file.dotted(value.func) ?? "")
  )
    return null;
  const parts = positional(value, 0);
  if (parts?.kind !== "List" && parts?.kind !== "Tuple") return null;
  const own = parts.items.some((item) => item.kind === "Name" && item.id === target.id);
  return own ? (parts.items.find((item) => !(item.kind === "Name" && item.id === target.id)) ?? null) : null;
}

/** A Lightning module's `validation_step` that lists what it computed on self, or hands it to a method that does, or to its epoch's end. */
function* steps(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("append", "extend")) {
    if (call.func.kind !== "Attribute" || call.args.length !== 1) continue;
    yield* listed(call, call.func.value, call.args[0]!.value, isExtend(call), facts);
  }
  // `self.outputs += [logits]`
  for (const { target, value } of file.all("AugAssign"))
    if (value.kind === "List") yield* listed(value, target, value, false, facts);
  for (const { value, parent } of file.all("Return")) {
    const step = value && parent ? validationStep(value, facts) : null;
    if (!value || !step || !hasEpochEnd(step)) continue;
    for (const part of parts(value, facts))
      if (isOutput(part, facts)) yield { ...keptOf(part, "What the step returns", facts), severity: "note" };
  }
}

/** What is put into a list on self, one of its parts at a time. */
function* listed(at: Expr, list: Expr, added: Expr, spread: boolean, facts: Facts): Generator<Finding> {
  const root = list.kind === "Subscript" ? list.value : list;
  if (selfAttribute(root) === null) return;
  const into = `\`${facts.file.textOf(list)}\``;
  const doubt = spread || root !== list ? { severity: "note" as const } : {};
  for (const part of parts(added, facts).flatMap((one) => pieces(one, facts)))
    if (isOfStep(part, at, facts)) yield { ...keptOf(part, into, facts), severity: "note" };
    else if (validationStep(at, facts) || isUnlessTraining(at)) {
      if (networkCall(part, facts)) yield { ...keptOf(part, into, facts), ...doubt };
    } else if (isHandedOutput(part, facts)) yield { ...keptOf(part, into, facts), severity: "note" };
}

/** `logits`, `labels` of `record`, where `record = {"logits": logits, "labels": labels}` is what is kept. */
function pieces(added: Expr, facts: Facts): readonly Expr[] {
  const record = added.kind === "Name" ? facts.file.scopes.onlyValue(added) : null;
  return record?.kind === "Dict" || record?.kind === "Tuple" || record?.kind === "List"
    ? parts(record, facts)
    : [added];
}

/** `outputs["logits"]` in `def on_validation_batch_end(self, trainer, module, outputs, …)`: what a step of the evaluation returned. */
function isOfStep(part: Expr, at: Expr, { file }: Facts): boolean {
  const fn = functionOf(at);
  let from = part;
  while (from.kind === "Subscript" || from.kind === "Attribute") from = from.value;
  return (
    fn?.kind === "FunctionDef" &&
    /^on_(?:validation|test|predict)_batch_end$/.test(fn.name) &&
    from.kind === "Name" &&
    from.id === "outputs" &&
    !/loss|score|metric|acc|num_|count/i.test(file.textOf(part))
  );
}

/** `if not self.training: self.outputs.append(logits)`, in a step that is called for training and validation alike. */
function isUnlessTraining(at: Expr): boolean {
  return ancestors(at).some(
    (one) =>
      one.kind === "If" &&
      one.test.kind === "Unary" &&
      one.test.op === "not" &&
      selfAttribute(one.test.operand) === "training" &&
      one.body.some((inside) => contains(inside, at)),
  );
}

function keptOf(part: Expr, into: string, facts: Facts): Finding {
  return {
    at: part,
    message: `${into} keeps the outputs of every batch on the device: its memory grows with the dataset`,
    fix: { grade: "unsafe", title: "Keep them on the host", edits: onTensor(part, ".cpu()", facts) },
  };
}

/** `validation_epoch_end(self, outputs)` beside `validation_step`: Lightning keeps what all steps return until then. */
function hasEpochEnd(step: FunctionDef): boolean {
  const cls = classOf(step);
  const end = step.name.replace(/step$/, "epoch_end");
  return cls !== null && methodsOf(cls).some(({ name }) => name === end);
}

/** What a network gave, and no loss or other number of it. */
function isOutput(expr: Expr, facts: Facts): boolean {
  const source = networkCall(expr, facts);
  return (
    source !== null &&
    !facts.networks.isLoss(source.func) &&
    !/(?:loss|scores?|rewards?)$/.test(facts.file.textOf(expr)) &&
    !isMaybeNumber(expr)
  );
}

/** `logits` in `def keep(self, logits): self.outputs.append(logits)`, where a validation step hands in what a network gave. */
function isHandedOutput(part: Expr, facts: Facts): boolean {
  const { file } = facts;
  const [one, ...more] = part.kind === "Name" ? file.scopes.reaching(part) : [];
  const fn = functionOf(part);
  if (one?.how !== "param" || more.length > 0 || fn?.kind !== "FunctionDef") return false;
  return callsOf(fn, file).some(
    (call) =>
      validationStep(call, facts) !== null &&
      call.args.some((arg) => paramGiven(call, arg, file) === one.node && isOutput(arg.value, facts)),
  );
}

/** `self.outputs.append(model(x))` in a loop over batches of a method that evaluates. */
function* onSelf(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("append", "extend")) {
    if (call.func.kind !== "Attribute" || call.args.length !== 1 || facts.hot(call)) continue;
    const root = call.func.value.kind === "Subscript" ? call.func.value.value : call.func.value;
    const [loop] = loopsAround(call);
    if (selfAttribute(root) === null || loop?.kind !== "For") continue;
    for (const part of parts(call.args[0]!.value, facts))
      yield* judge(part, loop, loop.iter, `\`${facts.file.textOf(root)}\``, facts);
  }
}

/** `[model(x) for x, _ in loader]`. */
function* comprehensions(facts: Facts): Generator<Finding> {
  for (const comp of facts.file.all("Comp")) {
    const [clause] = comp.clauses;
    if (!clause || comp.flavour !== "list") continue;
    for (const part of parts(comp.element, facts)) yield* judge(part, comp, clause.iter, "The list", facts);
  }
}

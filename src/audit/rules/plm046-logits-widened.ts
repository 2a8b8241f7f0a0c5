import { argument, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Arg, Attribute, Call, Expr, Node, Return } from "../../python/tree.ts";
import { isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { callsOf, paramGiven } from "../facts/returns.ts";
import type { Rule } from "../rule.ts";

/** `logits.view(-1, logits.size(-1))`, `logits.flatten(0, 1)`: a row of scores for each token. */
const FLATTENED = /\.(?:view|reshape)\(\s*-1,\s*\w+\.(?:size\(-1\)|shape\[-1\])|\.flatten\(0, ?1\)/;

export const rule: Rule = {
  meta: {
    code: "PLM046",
    name: "logits-widened",
    summary: "The logits of the whole vocabulary are copied to float32 for the loss",
    severity: "note",
    fix: "none",
    patterns: [46],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.callsNamed("float", "to", "type", "softmax", "log_softmax")) {
      const source = widened(call, facts);
      if (!source) continue;
      if (facts.guesses && isLikely(call, source, facts)) yield { at: call, message: MESSAGE };
      if (facts.guesses) continue;
      const named = name(source);
      const made = source.kind === "Name" ? file.scopes.reaching(source)[0]?.value : null;
      const ofHead = isVocabularyHead(made ?? source, facts);
      const told =
        ofHead ||
        /logits$|^(?:lm_head|head|output|fc_out|out_head|output_layer|embed_out|unembed|to_logits)$/.test(
          named.endsWith("logits") || !made ? named : name(made),
        ) ||
        takenAs(call, source).endsWith("logits") ||
        isNamedHead(source) ||
        isShiftedLogits(source, facts) ||
        // `scores`, in a file that speaks of vocabularies.
        (file.mentions("vocab") && feedsLoss(call, facts) && isOutput(call, source, facts));
      const speaks = told && file.once(speaksOfVocabulary);
      if ((!speaks && !isOfTokens(call, source, facts)) || facts.gradMode(call) === "off") continue;
      const hot = facts.hot(call);
      const trained = hot
        ? facts.frequency(call, hot.within) !== "throttled"
        : facts.gradMode(call) === "on" || isOfLoss(call);
      if (
        trained &&
        ((speaks && isVocabulary(call, facts)) || isOfTokens(call, source, facts)) &&
        (feedsLoss(call, facts) || (ofHead && isReturned(call, facts)))
      )
        yield { at: call, message: MESSAGE };
    }
  },
};

const MESSAGE =
  "A float32 copy of all logits, batch × length × vocabulary, is made and kept for backward; a chunked or fused cross-entropy never holds it";

/** Logits by their name or by the layer that gave them, in a file that speaks of tokens and sorts nothing into classes. */
function isLikely(call: Call, source: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (!file.once(speaksOfTokens) || facts.gradMode(call) === "off" || isPiece(call, facts)) return false;
  const hot = facts.hot(call);
  if (!(hot ? facts.frequency(call, hot.within) !== "throttled" : isOfLoss(call))) return false;
  const fn = functionOf(call);
  if (fn?.kind === "FunctionDef" && /generat|sampl|eval|valid|predict|metric|decode/i.test(fn.name))
    return false;
  const statement = statementOf(call);
  if (
    statement &&
    /num_labels|num_classes|n_classes|label_ids|gate|router|mask_logits/.test(file.textOf(statement))
  )
    return false;
  const made = source.kind === "Name" ? (file.scopes.reaching(source)[0]?.value ?? null) : null;
  // Asked of and gone, or of a class that is no network and no loss.
  const cls = classOf(call);
  if ((statement && /\.item\(\)/.test(file.textOf(statement))) || (cls && cls.args.length === 0))
    return false;
  const isNamed =
    LOGITS.test(name(source)) ||
    (made !== null && LOGITS.test(name(made))) ||
    LOGITS.test(takenAs(call, source)) ||
    isNamedHead(source);
  return isNamed && (feedsLoss(call, facts) || isReturned(call, facts) || isHandedWithLabels(call, file));
}

/** `loss_of(logits.float(), labels)`, by itself or under a name. */
function isHandedWithLabels(call: Call, file: PythonFile): boolean {
  const compared = comparing(call, file);
  return compared !== null && /label|target|ids|\by\b|trg|tgt/.test(file.textOf(compared));
}

/** `mlm_logits` of `mlm_logits = net.mlm_score(hidden).float()`: what a call gave, widened before it has a name. */
function takenAs({ parent }: Call, source: Expr): string {
  const [target, ...more] = parent?.kind === "Assign" && source.kind === "Call" ? parent.targets : [];
  return target?.kind === "Name" && more.length === 0 ? target.id : "";
}

/** `net.mlm_score(hidden)`, of a network that is handed in: by its name the head of a language model. */
function isNamedHead(source: Expr): boolean {
  return (
    source.kind === "Call" &&
    /^(?:[mc]?lm|vocab)_(?:head|scores?|predict\w*|decoder|proj\w*|classifier|logits)$/.test(
      lastWord(source.func),
    )
  );
}

const LOGITS =
  /logits?$|^(?:lm_?head|head|generator|fc_out|out_?(?:proj|head|layer)|output_layer|vocab_\w+|unembed|decoder_out(?:put)?)$/;

/** A language model is spoken of, and no classes or boxes. */
function speaksOfTokens(file: PythonFile): boolean {
  return (
    file.says(
      /lm_head|vocab|CausalLM|LMHead|Seq2SeqLM|input_ids|(?:pad|eos|bos|eot)_(?:token|id)|tokenizer|ntoken|n_tokens|GPT|block_size|seq_?len/,
    ) && !file.says(/num_labels|Classification|pred_boxes|anchors|RewardModel|value_head/)
  );
}

/** `scores, targets = shifted(logits, ids)`: the first of what a function makes of the logits that it is given first. */
function isShiftedLogits(source: Expr, { file }: Facts): boolean {
  let base = source;
  while (base.kind === "Call" && base.func.kind === "Attribute") base = base.func.value;
  const [made] = base.kind === "Name" ? file.scopes.reaching(base) : [];
  const call = made?.how === "unpack" && made.index === 0 ? made.value : null;
  const given = call?.kind === "Call" ? positional(call, 0) : null;
  return given?.kind === "Name" && given.id.endsWith("logits");
}

/** Only a language model's head has outputs that large. */
function speaksOfVocabulary(file: PythonFile): boolean {
  return (
    (file.mentions("logits") || file.mentions("lm_head") || file.mentions("vocab")) &&
    (file.says(
      /lm_head|vocab|labels|shift_logits|wte|CausalLM|LMHead|input_ids|SFTTrainer|(?:pad|eos|bos|eot|per)_token|tokenizer/,
    ) ||
      file.says(FLATTENED))
  );
}

/** `self.generator(h)`, made as `nn.Linear(width, vocab_size)`. */
function isVocabularyHead(expr: Expr, { file }: Facts): boolean {
  return (
    expr.kind === "Call" &&
    isOnlyMadeBy(
      expr.func,
      file,
      (layer) =>
        file.dotted(layer.func) === "torch.nn.Linear" &&
        /vocab/.test(file.textOf(positional(layer, 1) ?? layer)),
    )
  );
}

/** What a file says that computes in less than float32: elsewhere nothing is widened. */
const NARROW = /autocast|bfloat16|float16|\.half\(\)|\b(?:fp|bf)16\b|mixed_precision/;

const isNarrow = (file: PythonFile): boolean => file.says(NARROW);

/** A row of scores for each place of a sequence, as a cross-entropy takes them. */
const ROWS =
  /\.(?:view|reshape)\(\s*-1,\s*[\w.]+(?:\.size\(-1\)|\.shape\[-1\])|\.flatten\(0, ?1\)|\.transpose\((?:1, ?2|2, ?1|-1, ?-2|-2, ?-1)\)|\.permute\(0, ?2, ?1\)|\.mT\b/;

/** The next token, by its name or as the inputs shifted by one; tags and classes of tokens are few. */
const TOKENS = /token|caption|(?:input|target|output)_ids|\[(?::|\.\.\.), ?1:\]/;

/** `targets.view(-1)`: the places of all sequences, one after the other, as the rows of scores beside them. */
const FLAT = /\.(?:view|reshape)\(\s*-1\s*\)|\.(?:flatten|ravel)\(\s*\)/;
const CLASSES = /tag|class|slot|entit|token_?(?:type|label)|(?<!\w)(?:pos|ner)_|num_labels/i;

/** A file that learns the next token: it has a tokenizer or sequences of a length, and no classes to tell apart. */
const isOfLanguage = (file: PythonFile): boolean =>
  file.says(/CausalLM|LMHead|tokenizer|vocab|\b(?:block_size|seq_len(?:gth)?|context_len(?:gth)?)\b/) &&
  !file.says(/Classif|num_(?:labels|classes)|n_classes|\bner\b|tagger/i);

/** `criterion(out.float().view(-1, out.size(-1)), batch["tokens"].view(-1))`: a network's scores of every token, by what they are compared with. */
function isOfTokens(call: Call, source: Expr, facts: Facts): boolean {
  const { file } = facts;
  const loss = comparing(call, file);
  const targets = loss && argument(loss, "target", 1);
  const given = isGivenLogits(source, file);
  if (!loss || !targets || !(file.once(isNarrow) || given)) return false;
  let base: Expr = targets;
  while (base.kind === "Call" && base.func.kind === "Attribute") base = base.func.value;
  const made = base.kind === "Name" ? file.scopes.reaching(base)[0]?.value : null;
  const told = file.textOf(targets) + (made ? file.textOf(made) : "");
  if (!ROWS.test(file.textOf(loss)) && !FLAT.test(told)) return false;
  // `y.view(-1)`, in a file that trains a language model and nothing else.
  const isNext = TOKENS.test(told) || (FLAT.test(told) && file.once(isOfLanguage));
  if (!isNext || CLASSES.test(told) || CLASSES.test(file.textOf(loss))) return false;
  return (given || isReshapedOutput(source, facts)) && !isPiece(call, facts);
}

/** `outputs[0][:, :-1]`, and `outputs = outputs.view(rows, -1)`: what a network returned, in whatever shape. */
function isReshapedOutput(expr: Expr, facts: Facts, depth = 0): boolean {
  let from = expr;
  while (
    from.kind === "Subscript" ||
    (from.kind === "Call" && from.func.kind === "Attribute" && RESHAPES.test(from.func.attr))
  )
    from = from.kind === "Subscript" ? from.value : (from.func as Attribute).value;
  if (facts.value(from).what === "output") return true;
  const [made, ...more] = from.kind === "Name" ? facts.file.scopes.reaching(from) : [];
  return (
    made?.how === "assign" &&
    more.length === 0 &&
    made.value !== null &&
    depth < 3 &&
    isReshapedOutput(made.value, facts, depth + 1)
  );
}

/** `def forward(self, logits, tokens)` of a loss: whether they are narrow is told where it is called, but whoever widens them has seen some. */
function isGivenLogits(source: Expr, { scopes }: PythonFile): boolean {
  let base = source;
  while (base.kind === "Subscript" || (base.kind === "Call" && base.func.kind === "Attribute"))
    base = base.kind === "Subscript" ? base.value : (base.func as Attribute).value;
  return (
    base.kind === "Name" &&
    base.id.endsWith("logits") &&
    isOfLoss(base) &&
    scopes.reaching(base).every(({ how }) => how === "param")
  );
}

/** The call that is handed this first, with something to compare it with: by itself, or under a name. */
function comparing(expr: Expr, file: PythonFile): Call | null {
  for (let at: Node = expr, up = at.parent; up; at = up, up = up.parent) {
    if (up.kind === "Call" && up.func !== at) return null;
    if (up.kind === "Arg" && up.parent?.kind === "Call")
      return up.parent.args[0] === up && up.parent.args.length > 1 ? up.parent : null;
    if (up.kind === "Assign") {
      const [target] = up.targets;
      const made = target?.kind === "Name" && expr.kind === "Call" ? file.scopes.definitionAt(target) : null;
      for (const use of made ? file.scopes.uses(made) : []) {
        const found = comparing(use, file);
        if (found) return found;
      }
      return null;
    }
    if (up.kind === "FunctionDef") return null;
  }
  return null;
}

/** Of a language model, and not in pieces already. */
function isVocabulary(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  const around = classOf(call) ?? fn;
  const text = facts.file.codeOf(around ?? facts.file.tree.module);
  const statement = statementOf(call);
  if (isPiece(call, facts)) return false;
  if (statement && /num_labels|num_classes|n_classes|label_ids/.test(facts.file.textOf(statement)))
    return false;
  const { file } = facts;
  return (
    /lm_head|vocab|shift_l|CausalLM|LMHead|ForConditionalGeneration|ignore_index|wte|embed_out|unembed|to_logits|input_ids|per_token|\w\[(?::|\.\.\.), 1:\]/.test(
      text,
    ) ||
    FLATTENED.test(text) ||
    (/CausalLM|LMHeadModel|ForConditionalGeneration|MaskedLM|input_ids|(?:SFT|DPO|GRPO|KTO)Trainer/.test(
      file.text,
    ) &&
      !file.says(/Classification|num_labels|RewardModel/))
  );
}

/** In a loop over chunks, in a function made for that, or of what is named after one; not what a `chunked_loss` is handed. */
function isPiece(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const statement = statementOf(call);
  const told: string[] = statement ? [file.textOf(statement)] : [];
  // A function that trains does much else, and speaks of other chunks.
  const trains = facts.stepLoop(call) !== null;
  for (const at of ancestors(call))
    if (at.kind === "For" || at.kind === "Clause") told.push(file.textOf(at.target), file.textOf(at.iter));
    else if (at.kind === "ClassDef") told.push(at.name);
    else if (at.kind === "FunctionDef") told.push(at.name, trains ? "" : file.codeOf(at));
  return told.some((text) => /chunk/i.test(text.replace(CHUNKING, "").replace(HALVES, "")));
}

/** `chunked_cross_entropy(`, `chunk_size=128`: who cuts what it is given into pieces is handed the whole. */
const CHUNKING = /\b\w*chunked\w*\(|\b(?:n|num)?_?chunk_?(?:size|len|length)?s?=(?=\S)/gi;

/** `chosen, rejected = logps.chunk(2, dim=0)`: a batch of pairs is taken apart under names, and each half is there at once. */
const HALVES = /\w+\)?(?:\s*,\s*\(?\w+)+\)?\s*=[^=\n]*?\bchunk\(/g;

function widened(call: Call, facts: Facts): Expr | null {
  const name = facts.file.dotted(call.func);
  const isFloat32 = (type: Expr | null): boolean =>
    type !== null && /^torch\.float(?:32)?$/.test(facts.file.dotted(type) ?? "");
  const makes = call.func.kind === "Attribute" && call.func.attr.endsWith("softmax");
  // `log_softmax(logits, dim=-1, dtype=torch.float32)`
  if (makes || name?.endsWith("softmax") === true)
    return isFloat32(keyword(call, "dtype")?.value ?? null)
      ? name === null && call.func.kind === "Attribute"
        ? call.func.value
        : positional(call, 0)
      : null;
  if (call.func.kind !== "Attribute" || name !== null) return null;
  if (call.func.attr === "float" && call.args.length === 0) return call.func.value;
  const dtype = /^(?:to|type)$/.test(call.func.attr) ? argument(call, "dtype", 0) : null;
  // `logits.to(device, torch.float32)`
  const beside = dtype && call.func.attr === "to" && !isFloat32(dtype) ? positional(call, 1) : null;
  if (isFloat32(beside)) return /cpu/.test(facts.file.textOf(dtype!)) ? null : call.func.value;
  return isFloat32(dtype) && !keyword(call, "device") ? call.func.value : null;
}

function name(expr: Expr): string {
  if (expr.kind === "Name") return expr.id;
  if (expr.kind === "Attribute") return expr.attr;
  // `output.logits if hasattr(output, "logits") else output`
  if (expr.kind === "IfExp") return name(expr.body);
  // `outputs.get("logits")`
  if (expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "get") {
    const key = positional(expr, 0);
    return key?.kind === "Str" ? (key.value ?? "") : "";
  }
  // `rearrange(logits, "b n c -> b c n")`
  if (expr.kind === "Call" && expr.func.kind === "Name" && expr.func.id === "rearrange") {
    const of = positional(expr, 0);
    return of ? name(of) : "";
  }
  // `outputs["logits"]`
  if (expr.kind === "Subscript" && expr.index.kind === "Str") return expr.index.value ?? "";
  return expr.kind === "Subscript"
    ? name(expr.value)
    : expr.kind === "Call" && expr.func.kind === "Attribute"
      ? selfAttribute(expr.func) === null
        ? name(expr.func.value)
        : expr.func.attr
      : "";
}

/** `self.ce`, or `ce`, made as `nn.CrossEntropyLoss(ignore_index=-100)`. */
function isMadeLoss(callee: Expr, { file }: Facts): boolean {
  const makes = (made: Call): boolean => /CrossEntropyLoss$|NLLLoss$/.test(file.dotted(made.func) ?? "");
  const made = callee.kind === "Name" ? file.scopes.onlyValue(callee) : null;
  return made?.kind === "Call" ? makes(made) : isOnlyMadeBy(callee, file, makes);
}

/** What a network returned, or what was made of it and is now handed to the loss. */
function isOutput({ parent }: Call, source: Expr, facts: Facts): boolean {
  const { what, graph } = facts.value(source);
  const first = parent?.kind === "Arg" && parent.parent?.kind === "Call" && parent.parent.args[0] === parent;
  return what === "output" || (what === "tensor" && graph === "yes" && first);
}

/** Handed out by the forward that made them, by themselves or under a name. */
function isReturned(call: Call, { file }: Facts): boolean {
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || fn.name !== "forward") return false;
  const statement = statementOf(call);
  if (statement?.kind === "Return") return true;
  const [left] = statement?.kind === "Assign" ? statement.targets : [];
  const at =
    left?.kind === "Tuple" && call.parent?.kind === "Tuple"
      ? left.items[call.parent.items.indexOf(call)]
      : left;
  const made = at?.kind === "Name" ? file.scopes.definitionAt(at) : null;
  return made !== null && file.scopes.uses(made).some((use) => statementOf(use)?.kind === "Return");
}

/** Passed to a cross-entropy, directly or through names of this function. */
function feedsLoss(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 5) return false;
  if (expr.kind === "Call" && facts.file.textOf(expr.func).endsWith("log_softmax")) return true;
  for (let at = expr.parent; at; at = at.parent) {
    if (
      at.kind === "Call" &&
      // `torch.gather(logits, -1, ids)` takes the scores of the tokens that came.
      (/cross_entropy$|nll_loss$|log_softmax$|logsumexp$|^torch\.gather$|CrossEntropyLoss$|(?:^|[._])(?:ce|lm|xent)_loss$/.test(
        facts.file.dotted(at.func) ?? "",
      ) ||
        // What a loss makes of probabilities is compared.
        (lastWord(at.func) === "softmax" && isOfLoss(at)) ||
        /loss_f(?:n|ct|unc\w*)$|criterion$|\.log_softmax$|\.logsumexp$|CrossEntropyLoss\([^()]*\)$/.test(
          facts.file.textOf(at.func).slice(-40),
        ) ||
        isMadeLoss(at.func, facts))
    )
      return true;
    // `distillation_loss(student_logits=out.logits.float(), …)` of the program's own, `confidence_loss(logits, labels)`
    if (at.kind === "Arg" && isLogitsOfLoss(at, expr)) return true;
    if (at.kind === "Arg" && isWholeOf(at.value, expr) && isHandedToLoss(at, facts, depth)) return true;
    if (at.kind === "Assign") {
      const [left] = at.targets;
      // `logits, labels = logits[:, :-1].float(), labels[:, 1:]`
      const target =
        left?.kind === "Tuple" && at.value.kind === "Tuple"
          ? left.items[at.value.items.findIndex((item) => contains(item, expr))]
          : left;
      const definition = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
      return (
        definition !== null &&
        facts.file.scopes.uses(definition).some((use) => feedsLoss(use, facts, depth + 1))
      );
    }
    if (at.kind === "Return") return returnedInto(expr, at, facts, depth);
    if (at.kind === "FunctionDef") return false;
  }
  return false;
}

/** In a function that is named a loss, or of a class that is: `class SequenceLoss`, `def token_loss(logits, labels)`. */
function isOfLoss(node: Node): boolean {
  const fn = functionOf(node);
  return (
    (fn?.kind === "FunctionDef" && fn.name.endsWith("loss")) ||
    /Loss(?:Wrapper|Fn)?$/.test(classOf(node)?.name ?? "")
  );
}

/** Handed to what is named a loss, as its logits: by the parameter's name, or first of all and by their own. */
function isLogitsOfLoss(arg: Arg, expr: Expr): boolean {
  const call = arg.parent;
  if (call?.kind !== "Call" || !lastWord(call.func).endsWith("loss")) return false;
  return arg.name === null
    ? call.args[0] === arg && call.args.length > 1 && isWholeOf(arg.value, expr) && /logits/.test(name(expr))
    : arg.name.endsWith("logits");
}

/** What reads scores for a loss, by its name: `cross_entropy_loss(logits, labels)`, `sequence_logps(logits, labels)`. */
const OF_SCORES = /cross_entropy_loss$|(?:^|_)(?:logps|log_?probs|nll)(?:_from_logits)?$/;

/** `self.pair_loss(logits[:n], labels)`: by its name, or as a function of this file that goes on to a loss with what it is given. */
function isHandedToLoss(arg: Arg, facts: Facts, depth: number): boolean {
  const call = arg.parent;
  if (call?.kind !== "Call") return false;
  if (OF_SCORES.test(lastWord(call.func)) && call.args[0] === arg) return true;
  const { scopes } = facts.file;
  const param = paramGiven(call, arg, facts.file);
  const made = param ? scopes.definitionAt(param) : null;
  return made !== null && scopes.uses(made).some((use) => feedsLoss(use, facts, depth + 1));
}

/** `logits[:n]`, `logits.view(-1, size)` of `logits`: the same scores, or many of them. */
function isWholeOf(value: Expr, expr: Expr): boolean {
  let at = value;
  while (at !== expr)
    if (at.kind === "Subscript") at = at.value;
    else if (at.kind === "Call" && at.func.kind === "Attribute" && RESHAPES.test(at.func.attr))
      at = at.func.value;
    else return false;
  return true;
}

const RESHAPES = /^(?:view|reshape|flatten|transpose|permute|contiguous|squeeze|unsqueeze|to)$/;

/** `scores, targets = self.shifted(logits, labels)`: what the callers in this file do with what they are handed. */
function returnedInto(expr: Expr, { value }: Return, facts: Facts, depth: number): boolean {
  const { file } = facts;
  const fn = functionOf(expr);
  if (fn?.kind !== "FunctionDef" || fn.name === "forward") return false;
  const at = value?.kind === "Tuple" ? value.items.findIndex((item) => contains(item, expr)) : -1;
  return callsOf(fn, file).some((call) => {
    if (at < 0) return feedsLoss(call, facts, depth + 1);
    const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
    const name = target?.kind === "Tuple" ? target.items[at] : undefined;
    const definition = name?.kind === "Name" ? file.scopes.definitionAt(name) : null;
    return (
      definition !== null && file.scopes.uses(definition).some((use) => feedsLoss(use, facts, depth + 1))
    );
  });
}

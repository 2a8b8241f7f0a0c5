import type { PythonFile } from "../../python/file.ts";
import { isTrue, keyword } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import { entry } from "../facts/arguments.ts";
import { isOnlyMadeBy } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsBeyondNames } from "../facts/assigns.ts";

const WANTED: ReadonlyMap<string, RegExp> = new Map([
  // What another network is given as `encoder_hidden_states=` is no part of these outputs.
  ["output_hidden_states", /(?:(?<!\w)|\boutput_|\.(?:en|de)coder_)hidden_states\b/g],
  ["output_attentions", /attentions\b/g],
]);

const TRAINS = /Trainer\b|\.backward\(|training_step/;

/** What a function does to a network that is to be trained, by whatever file. */
const PREPARES =
  /prepare_model_for_(?:kbit|int8)_training\(|get_peft_model\(|gradient_checkpointing_enable\(|enable_input_require_grads\(|config\.use_cache\s*=\s*False|\boptim\.[A-Z]\w*\(|\bAdamW\(/;

/**
 * Differentiates, or runs a network for those who do, or hands it to a file that trains it and reads nothing of it, or
 * prepares it for a program that reads nothing of it.
 */
function trains(asked: Node, facts: Facts): boolean {
  const fn = functionOf(asked);
  const elsewhere = facts.project.trained.get(facts.file.module);
  return (
    (elsewhere !== undefined && !elsewhere.states) ||
    (fn !== null && PREPARES.test(facts.file.codeOf(fn)) && !facts.project.states.has(facts.file.module)) ||
    facts.file.says(TRAINS) ||
    facts.file
      .all("Call")
      .some(
        (call) => isNetwork(call.func, facts) && facts.hot(call) !== null && facts.gradMode(call) !== "off",
      )
  );
}

const MESSAGES: Readonly<Record<string, string>> = {
  output_attentions:
    "The attention matrices of all layers are built and kept for nobody, and the fused attention cannot be used",
  output_hidden_states:
    "The hidden states of all layers are kept until the outputs go, and nobody reads them",
};

const LAST_ONLY =
  "Of the hidden states of all layers, which are kept until the outputs go, only the last is read: the model without its head gives that as `last_hidden_state`";

/** `outputs = model(…)`, of which all that is read is `outputs.hidden_states[-1]`. */
function isLastOnly(call: Call, file: PythonFile): boolean {
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  if (target?.kind !== "Name") return false;
  const reads = file.scopes.uses(file.scopes.definitionAt(target)!);
  return (
    reads.length > 0 &&
    reads.every(
      ({ parent: states }) =>
        states?.kind === "Attribute" &&
        states.attr === "hidden_states" &&
        states.parent?.kind === "Subscript" &&
        file.textOf(states.parent.index) === "-1",
    )
  );
}

const FIGURES_ONLY: Readonly<Record<string, string>> = {
  output_attentions:
    "The attention matrices of all layers are built and kept, without the fused attention, for figures that are only reported; ask for them in the steps that report these",
  output_hidden_states:
    "The hidden states of all layers are kept until the outputs go, for figures that are only reported; ask for them in the steps that report these",
};

/**
 * `outputs = model(…)`, of which `outputs.hidden_states[-1].norm().item()` is read besides the loss or the logits: for who looks
 * on, once in a while. What is only detached may be a target that the loss compares with.
 */
function isForFigures(key: string, call: Call, { file }: Facts): boolean {
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const reads = made ? file.scopes.uses(made) : [];
  const asked = reads.flatMap(({ parent }) =>
    parent?.kind === "Attribute" && parent.attr === key.replace("output_", "") ? [parent] : [],
  );
  return (
    asked.length > 0 &&
    reads.every(({ parent }) => parent?.kind === "Attribute") &&
    asked.every((one) => isReported(one, file, new Set()))
  );
}

/** Off the device it is for people. */
const LEAVES = /^(?:item|tolist|numpy|cpu)$/;
const LOGS = /^(?:log(?:_\w+)?|add_(?:scalar|histogram)s?)$/;
const RECORDS = /(?:^|_)(?:metrics?|logs?|stats?|statistics|records?|figures)$/;

/** What comes of it is told: by a method of the chain it begins, to a logger, in a dict of metrics, or wherever its name is used. */
function isReported(expr: Expr, file: PythonFile, seen: Set<Expr>): boolean {
  if (seen.has(expr)) return false;
  seen.add(expr);
  const { parent } = expr;
  if (parent?.kind === "Attribute") return LEAVES.test(parent.attr) || isReported(parent, file, seen);
  if (parent?.kind === "Subscript" && parent.value === expr) return isReported(parent, file, seen);
  if (parent?.kind === "Call") return isReported(parent, file, seen);
  if (parent?.kind === "Arg" && parent.parent?.kind === "Call") {
    const called = file.dotted(parent.parent.func) ?? "";
    if (called === "builtins.float" || LOGS.test(lastWord(parent.parent.func))) return true;
    return called.startsWith("torch.") && isReported(parent.parent, file, seen);
  }
  // `[layer.norm().item() for layer in outputs.hidden_states]`
  const [target] =
    parent?.kind === "Assign" ? parent.targets : parent?.kind === "Clause" ? [parent.target] : [];
  if (target?.kind === "Subscript") return RECORDS.test(lastWord(target.value));
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [];
  return uses.length > 0 && uses.every((one) => isReported(one, file, seen));
}

/** Where all activations wait for the backward, the hidden states are among them: measured, not a byte more. */
const severityOf = (key: string, { project }: Facts): { severity?: "note" } =>
  key === "output_hidden_states" && !project.checkpoints ? { severity: "note" } : {};

/** Read by name, or by position out of the tuple: then somebody wants them. */
function isRead(key: string, file: PythonFile): boolean {
  const mentions = file.text.match(WANTED.get(key)!)?.length ?? 0;
  const asked = file.text.match(new RegExp(`${key}\\b`, "g"))?.length ?? 0;
  return mentions > asked + unused(key, file) || isTakenApart(file);
}

/** Of what an encoder gives, the second is what it pooled. */
const ENCODED = /^(?:vision|image|text)_outputs?$/;

/** `outputs[2]`, of what is not generated; the first is the loss or the logits, and the second the logits behind a loss. */
function isTakenApart({ text }: PythonFile): boolean {
  const first = /\blabels\s*=/.test(text) ? /^[01]$/ : /^0$/;
  return [...text.matchAll(/\b(\w*outputs?)\[([-\d][^\]]*)\]/g)].some(
    ([, name, index]) =>
      !first.test(index!) &&
      !(index === "1" && ENCODED.test(name!)) &&
      !new RegExp(`\\b${name}\\s*=[^\\n]*\\.generate\\(`).test(text),
  );
}

/** How often `maps = outputs.attentions` gives them a name that nobody reads. */
function unused(key: string, file: PythonFile): number {
  const taken = key.replace("output_", "");
  return file.all("Assign").filter(({ targets: [target], value }) => {
    if (value.kind !== "Attribute" || value.attr !== taken || target?.kind !== "Name") return false;
    return target.id !== taken && file.scopes.uses(file.scopes.definitionAt(target)!).length === 0;
  }).length;
}

/** `def forward(self, ids, output_attentions=True)`, handed on. */
function isOnByDefault(flag: Expr, file: PythonFile): boolean {
  const [one, ...more] = flag.kind === "Name" ? file.scopes.reaching(flag) : [];
  return more.length === 0 && one?.node.kind === "Param" && isTrue(one.node.default ?? null);
}

/** `model(…)`, and `model.get_image_features(…)`. */
function isForward(callee: Expr, facts: Facts): boolean {
  return (
    isNetwork(callee, facts) ||
    isOfLibrary(callee, facts.file) ||
    (callee.kind === "Attribute" &&
      /^(?:forward|get_\w+_features|encode_\w+)$/.test(callee.attr) &&
      isNetwork(callee.value, facts))
  );
}

/** `AutoConfig.from_pretrained(name, **settings)`, `LlamaConfig(…)`: what makes the network that is trained, or says how. */
function isLoading(call: Call, facts: Facts): boolean {
  return (
    (/^transformers\.\w+Config$/.test(facts.file.dotted(call.func) ?? "") ||
      (call.func.kind === "Attribute" && /^from_(?:pretrained|config)$/.test(call.func.attr))) &&
    trains(call, facts)
  );
}

/** What it returns is a name that is then asked for its items by number, other than the loss, the logits and what was pooled. */
function isIndexed(call: Call, file: PythonFile): boolean {
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const encoded = target?.kind === "Name" && ENCODED.test(target.id);
  const first = encoded || keyword(call, "labels") ? /^[01]$/ : /^0$/;
  return (
    target?.kind === "Name" &&
    file.scopes
      .uses(file.scopes.definitionAt(target)!)
      .some(
        ({ parent }) =>
          parent?.kind === "Subscript" &&
          (parent.index.kind === "Num" ? !first.test(parent.index.text) : parent.index.kind === "Unary"),
      )
  );
}

/** `(loss, outputs) if return_outputs else loss`, `if return_outputs: return loss, outputs`: for the library's evaluation, which wants the logits. */
function isForEvaluation(use: Name): boolean {
  const choice = use.parent?.kind === "Tuple" ? use.parent.parent : null;
  const test =
    choice?.kind === "IfExp"
      ? choice.test
      : choice?.kind === "Return" && choice.parent?.kind === "If"
        ? choice.parent.test
        : null;
  return test?.kind === "Name" && test.id === "return_outputs";
}

/** `Output(loss=loss, vision_model_output=vision_outputs)`: with all that came back, for who asks. */
function isHandedOut(call: Call, file: PythonFile): boolean {
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (
    made !== null &&
    made !== undefined &&
    file.scopes
      .uses(made)
      .some(
        (use) =>
          use.parent !== null &&
          /^(?:Arg|Tuple|List|Dict|Return)$/.test(use.parent.kind) &&
          !isForEvaluation(use),
      )
  );
}

/** Bound to a name that is only asked for its parts, or asked for one at once: `teacher(ids, …).logits`. */
function isKeptHere(call: Call, file: PythonFile): boolean {
  const { parent } = call;
  if (parent?.kind === "Attribute" || parent?.kind === "Subscript") return parent.value === call;
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = made ? file.scopes.uses(made) : [];
  return (
    uses.length > 0 &&
    uses.every((use) => use.parent?.kind === "Attribute" || use.parent?.kind === "Subscript")
  );
}

/** `model(…, cutoff_layers=[8, 16])`: a network of their own make, which may build its result from them. */
function hasOwnArguments(call: Call, known?: RegExp): boolean {
  return call.args.some(
    ({ name }) =>
      name !== null &&
      known?.test(name) !== true &&
      !/^(?:(?:decoder_|encoder_)?(?:input_ids|inputs_embeds|attention_mask|position_ids|hidden_states|outputs)|\w*token_type_ids|\w*head_mask|\w*labels|\w*input_features|input_values|pixel_\w+|image_\w+|past_key_values?|use_cache|output_\w+|return_\w+|cache_position|interpolate_pos_encoding|bool_masked_pos|\w*logits_to_keep|\w*mask|\w*positions|\w*ids)$/.test(
        name,
      ),
  );
}

/**
 * `self.lm = GPT2LMHeadModel(config)`, `model = AutoModel.from_pretrained(name)`: a network of the library, which builds nothing from
 * them, whatever else it is handed; with code that comes with the weights, it may be any.
 */
function isOfLibrary(func: Expr, file: PythonFile): boolean {
  const run = func.kind === "Attribute" && func.attr === "forward" ? func.value : func;
  const isMade = (made: Call): boolean =>
    /^transformers\.(?:\w+\.)*[A-Z]\w*(?:\.from_(?:pretrained|config))?$/.test(
      file.dotted(made.func) ?? "",
    ) && !keyword(made, "trust_remote_code");
  if (run.kind !== "Name") return isOnlyMadeBy(run, file, isMade);
  const made = file.scopes.reaching(run);
  return (
    made.length > 0 &&
    made.every(({ how, value }) => how === "assign" && value?.kind === "Call" && isMade(value))
  );
}

/** However it is said, of whatever may be a network that trains: nothing here reads them, and nobody else of the program does. */
function* likelyAsked(facts: Facts): Generator<Finding> {
  const { file, project } = facts;
  if (OTHER_WORK.test(file.path)) return;
  for (const key of WANTED.keys()) {
    if (!file.mentions(key) || isRead(key, file)) continue;
    const asked: { readonly flag: Expr; readonly call: Call | null }[] = [
      ...file.calls.given([key]).map((call) => ({ flag: keyword(call, key)!.value, call })),
      ...file.all("Dict").flatMap((dict) => {
        const flag = entry(dict, key);
        return flag && isGivenOn(dict, file) ? [{ flag, call: null }] : [];
      }),
      ...assignsBeyondNames(file)
        .filter(
          ({ targets: [target] }) =>
            target !== undefined && putAs(target) === key && !/generation/.test(file.textOf(target)),
        )
        .map(({ value }) => ({ flag: value, call: null })),
    ];
    for (const { flag, call } of asked) {
      const fn = functionOf(flag);
      if (!isTrue(flag) || (fn?.kind === "FunctionDef" && OTHER_WORK.test(fn.name))) continue;
      if (!call && project.states.has(file.module)) continue;
      if (facts.gradMode(flag) === "off" || (facts.hot(flag) === null && !trains(flag, facts))) continue;
      if (call && (isIndexed(call, file) || /generat/i.test(lastWord(call.func)))) continue;
      if (
        call &&
        (isHandedOut(call, file) ||
          (hasOwnArguments(call, /^(?:reduction|mode|is_decoder|encoder_attention_mask)$/) &&
            facts.hot(call) !== null))
      )
        continue;
      if (call?.parent?.kind === "Subscript" && call.parent.index.kind !== "Str") continue;
      if (call?.parent?.kind === "Assign" && call.parent.targets.some((one) => one.kind === "Tuple"))
        continue;
      yield { at: flag, message: MESSAGES[key]! };
    }
  }
}

/** `model(**{…})`, or under a name that something is called with. */
function isGivenOn(dict: Expr, file: PythonFile): boolean {
  const [target] = dict.parent?.kind === "Assign" ? dict.parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (
    dict.parent?.kind === "Arg" ||
    (target !== undefined && target.kind !== "Name") ||
    (made !== null && file.scopes.uses(made).some(({ parent }) => parent?.kind === "Arg"))
  );
}

/** `config.output_attentions`, `batch["output_attentions"]` */
function putAs(target: Expr): string {
  if (target.kind === "Attribute") return target.attr;
  return target.kind === "Subscript" && target.index.kind === "Str" ? (target.index.value ?? "") : "";
}

const OTHER_WORK = /generat|infer|predict|demo|serve|eval|valid|test|extract|convert|export|visuali/i;

export const rule: Rule = {
  meta: {
    code: "PLM047",
    name: "hidden-states-asked-for",
    summary: "Training asks the network for all hidden states or attentions and reads none",
    severity: "warning",
    fix: "unsafe",
    patterns: [47],
  },
  *check(facts) {
    if (!facts.file.mentions("output_attentions") && !facts.file.mentions("output_hidden_states")) return;
    const { file } = facts;
    if (facts.guesses) return yield* likelyAsked(facts);
    for (const statement of assignsBeyondNames(file)) {
      const [target] = statement.targets;
      // `batch["output_attentions"] = True`
      const put =
        target?.kind === "Subscript" && target.index.kind === "Str" ? (target.index.value ?? "") : "";
      if (isTrue(statement.value) && WANTED.has(put) && facts.hot(statement) && !isRead(put, file))
        yield { at: statement, ...severityOf(put, facts), message: MESSAGES[put]! };
      if (target?.kind !== "Attribute" || !isTrue(statement.value) || !WANTED.has(target.attr)) continue;
      const owner =
        target.value.kind === "Attribute"
          ? target.value.attr
          : target.value.kind === "Name"
            ? target.value.id
            : "";
      if (!/^(?:\w+_)?(?:config|cfg)$/.test(owner) || /generation/.test(owner)) continue;
      if (isRead(target.attr, file) || !trains(statement, facts)) continue;
      // Whichever file of the program reads them, it is for that one.
      if (facts.project.states.has(file.module)) continue;
      yield {
        at: statement.value,
        severity: "note",
        message: MESSAGES[target.attr]!,
        fix: {
          grade: "unsafe",
          title: "Do not ask for them",
          edits: [{ start: statement.value.start, end: statement.value.end, text: "False" }],
        },
      };
    }
    // `model(**batch, **extra)`
    const made = file.calls
      .given([...WANTED.keys()])
      .filter((call) => file.dotted(call.func) === "builtins.dict");
    for (const dict of [...file.all("Dict"), ...made])
      for (const key of WANTED.keys()) {
        const value = entry(dict, key);
        const [target] = dict.parent?.kind === "Assign" ? dict.parent.targets : [];
        if (!isTrue(value) || isRead(key, file)) continue;
        // `model.config.update({…})`
        const updated = dict.parent?.kind === "Arg" ? dict.parent.parent : null;
        if (
          updated?.kind === "Call" &&
          /(?:config|cfg)\.update$/.test(file.textOf(updated.func)) &&
          trains(dict, facts)
        )
          yield { at: value!, severity: "note", message: MESSAGES[key]! };
        if (target?.kind !== "Name") continue;
        const handed = file.scopes.uses(file.scopes.definitionAt(target)!).flatMap(({ parent }) => {
          const call = parent?.kind === "Arg" && parent.star === 2 ? parent.parent : null;
          return call?.kind === "Call" ? [call] : [];
        });
        if (handed.some((call) => isNetwork(call.func, facts) && facts.hot(call) !== null))
          yield { at: value!, ...severityOf(key, facts), message: MESSAGES[key]! };
        else if (handed.some((call) => isLoading(call, facts)))
          yield { at: value!, severity: "note", message: MESSAGES[key]! };
      }
    for (const call of file.calls.given([...WANTED.keys()]))
      for (const key of WANTED.keys()) {
        const flag = keyword(call, key);
        if (!flag || !(isTrue(flag.value) || isOnByDefault(flag.value, file))) continue;
        // `batch.update(output_attentions=True)`
        const put = call.func.kind === "Attribute" && call.func.attr === "update" && call.args.length === 1;
        const step = (put || isForward(call.func, facts)) && facts.hot(call) !== null;
        const loads = isLoading(call, facts);
        if (!(step || loads)) continue;
        // Without a graph they are all that keeps a frozen network's layers alive; what another function is handed may be read there.
        const frozen = facts.gradMode(call) === "off";
        if (frozen && (!step || !isKeptHere(call, file))) continue;
        if (key === "output_hidden_states" && step && isLastOnly(call, file)) {
          yield { at: flag, severity: "note", message: LAST_ONLY };
          continue;
        }
        if (step && isForFigures(key, call, facts)) {
          yield { at: flag, severity: "note", message: FIGURES_ONLY[key]! };
          continue;
        }
        if (isRead(key, file)) continue;
        if (isIndexed(call, file)) continue;
        // `encoder(ids, output_hidden_states=True)[2]`, unlike `[0]` and `["logits"]`.
        const index = call.parent?.kind === "Subscript" ? call.parent.index : null;
        if (index && index.kind !== "Str" && !(index.kind === "Num" && index.text === "0")) continue;
        if (step && hasOwnArguments(call) && !isOfLibrary(call.func, file)) continue;
        const handedOut = isHandedOut(call, file);
        if (handedOut && facts.project.states.has(file.module)) continue;
        // Taken apart by position: a model of its own make, such as one with a value head, that may need them.
        if (call.parent?.kind === "Assign" && call.parent.targets.some((target) => target.kind === "Tuple"))
          continue;
        yield {
          at: flag,
          // Loaded with it, the network may be another than the one that trains; handed out, others may read them.
          ...(step && !handedOut ? severityOf(key, facts) : { severity: "note" as const }),
          message: MESSAGES[key]!,
          // Of what is loaded here and run in another file, that file may take the outputs apart by position.
          ...(step || facts.backwards.length > 0
            ? {
                fix: {
                  grade: "unsafe" as const,
                  title: "Do not ask for them",
                  edits: [{ start: flag.value.start, end: flag.value.end, text: "False" }],
                },
              }
            : {}),
        };
      }
  },
  *checkConfig(config) {
    for (const key of WANTED.keys())
      for (const setting of config.named(key))
        if (setting.value === true)
          yield {
            at: setting.valueAt,
            severity: "note",
            message:
              key === "output_attentions"
                ? "The attention matrices of all layers are built and kept, and the fused attention cannot be used"
                : "The hidden states of all layers are kept until the outputs go",
          };
  },
};

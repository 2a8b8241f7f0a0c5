import { argument, isNone, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, classOf, contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, If, Name, Node, NodeOf, Stmt } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { addKeyword } from "../edits.ts";
import { entriesOf, given, hidesArguments, settingsOf, updatedBy } from "../facts/arguments.ts";
import { isOffByDefault, optionBehind } from "../facts/behind-options.ts";
import { handedIn } from "../facts/handed-in.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import type { ProjectFacts } from "../facts/project.ts";
import { MADE_HALF } from "../facts/trained-elsewhere.ts";
import type { Finding, Rule } from "../rule.ts";
import type { Facts } from "../facts/facts.ts";

const TYPED = ["torch_dtype", "dtype", "quantization_config", "load_in_4bit", "load_in_8bit"];

/** A model in the manner of transformers, from a file beside: `modeling_baichuan.BaichuanForCausalLM`. */
const OWN =
  /\b\w+For(?:CausalLM|MaskedLM|ConditionalGeneration|(?:Sequence|Token|Image)Classification|QuestionAnswering)\.from_pretrained$/;

/** `load_in_8bit=False` says no more than nothing does. */
function isSaid(value: Expr | null): boolean {
  return value !== null && !(value.kind === "Const" && value.value !== true);
}

/** `load_in_8bit=args.eight_bit`, and `quantization_config=bnb` that is None, unless an option is given which is off by default. */
function isLeftOut(key: string, value: Expr, file: PythonFile, project: ProjectFacts): boolean {
  if (key.startsWith("load_in_")) return isOffByDefault(value, file, project);
  const made =
    value.kind === "IfExp" ? [value.body, value.orelse] : value.kind === "Name" ? valuesOf(value, file) : [];
  return (
    made.some(isNone) &&
    made.every((one) => one !== null && (isNone(one) || optionBehind(one, file, project) !== null))
  );
}

/** What a name may be; of a parameter, what the calls in this file give for it. Null among them is what nobody knows. */
function valuesOf(name: Name, file: PythonFile): readonly (Expr | null)[] {
  const ofDefinition = (one: Definition): Expr | null => (one.how === "assign" ? one.value : null);
  const definitions = file.scopes.reaching(name);
  const [one, ...more] = definitions;
  if (one?.how !== "param" || more.length > 0) return definitions.map(ofDefinition);
  return handedIn(one, file, true).flatMap((given) =>
    given.kind === "Name" ? file.scopes.reaching(given).map(ofDefinition) : [given],
  );
}

/** `if quantized: kwargs["quantization_config"] = …`, `else: kwargs["device_map"] = …`: the other branch says no type. */
function isSaidInOneBranch(call: Call, file: PythonFile): boolean {
  return call.args.some(({ star, value }) => {
    const [one] = star === 2 && value.kind === "Name" ? file.scopes.reaching(value) : [];
    const puts = (one ? file.scopes.uses(one) : []).flatMap((use) => {
      const at = use.parent;
      const statement = at?.kind === "Subscript" && at.value === use ? at.parent : null;
      return at?.kind === "Subscript" && at.index.kind === "Str" && statement?.kind === "Assign"
        ? [{ key: at.index.value ?? "", statement }]
        : [];
    });
    const typed = puts.filter(({ key, statement }) => TYPED.includes(key) && isSaid(statement.value));
    const test = typed[0]?.statement.parent;
    if (test?.kind !== "If" || typed.length === 0) return false;
    const inBody = ({ statement }: (typeof puts)[number]): boolean => test.body.includes(statement);
    const side = inBody(typed[0]!);
    return (
      typed.every((put) => put.statement.parent === test && inBody(put) === side) &&
      puts.some((put) => put.statement.parent === test && inBody(put) !== side)
    );
  });
}

/** Where a dict of settings is handed on, and the name it has there. */
interface Way {
  readonly at: Call;
  readonly settings: Name;
}

/** `load(kwargs)` wherever a function is called that gives `**kwargs` on, or else the call itself. */
function waysTo(call: Call, file: PythonFile): readonly Way[] {
  const stars = call.args.filter(({ star }) => star !== 0);
  const settings = stars.length === 1 && stars[0]!.star === 2 ? stars[0]!.value : null;
  if (settings?.kind !== "Name") return [];
  const [one, ...more] = file.scopes.reaching(settings);
  const fn = one?.how === "param" ? one.node.parent : null;
  if (!one || more.length > 0) return [];
  if (fn?.kind !== "FunctionDef" || one.node.kind !== "Param") return [{ at: call, settings }];
  if (one.node.star !== 0 || file.scopes.uses(one).some((use) => use.parent?.kind !== "Arg")) return [];
  const isMethod = fn.parent?.kind === "ClassDef";
  const index = fn.params.findIndex(({ name }) => name === one.name) - (isMethod ? 1 : 0);
  return file.callsNamed(fn.name).flatMap((at) => {
    const calls =
      isMethod || at.func.kind !== "Name"
        ? callTarget(at, file) === file.qualified(fn)
        : file.scopes.lookup(at.func)?.definitions.every(({ node }) => node === fn) === true;
    const handed = calls ? argument(at, one.name, index) : null;
    return handed?.kind === "Name" ? [{ at, settings: handed }] : [];
  });
}

/** `if quantized: kwargs.update(quantization_config=…)` above, and `load(kwargs)` in the other branch, or after the one that returns. */
function isElsewhere(put: Node, site: Node): boolean {
  for (let child = put, at = put.parent; at; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const branch = at.body.includes(child as never) ? at.body : at.orelse;
    if (branch.some((one) => contains(one, site))) return false;
    if (contains(at, site) || /^(?:Return|Raise)$/.test(branch[branch.length - 1]!.kind)) return true;
  }
  return false;
}

/**
 * `if bits == 8: …`, `elif bits == 4: …` and no more: for any other number, the one for plain training among them, nothing of
 * that is put in. Nor is what an option asks for that is off by default.
 */
function isOneOfSome(put: Node, file: PythonFile, project: ProjectFacts): boolean {
  for (let child = put, at = put.parent; at; child = at, at = at.parent) {
    if (at.kind !== "If" || !at.body.includes(child as never)) continue;
    let first: If = at;
    while (first.parent?.kind === "If" && first.parent.orelse[0] === first) first = first.parent;
    if (hasOtherCase(first, file)) return true;
  }
  return optionBehind(put, file, project) !== null;
}

/** Two or more ways to quantize, each asked for by a test of its own, and nothing for whoever wants none. */
function hasOtherCase(first: If, file: PythonFile): boolean {
  const choices = (blockOf(first) ?? []).filter(
    (one): one is If => one.kind === "If" && QUANTIZES.test(file.codeOf(one)),
  );
  const ways = choices.map((choice) => waysOf(choice));
  return (
    choices.includes(first) &&
    !ways.includes(null) &&
    ways.reduce((sum: number, way) => sum + way!, 0) > 1 &&
    // Who names a type in one of them has thought of the rest.
    !choices.some((choice) => /["'](?:torch_)?dtype["']/.test(file.codeOf(choice)))
  );
}

/** The tests of an if and its elifs; null where an else says what is to be done with the rest. */
function waysOf(choice: If): number | null {
  let count = 0;
  let at: Stmt | undefined = choice;
  while (at?.kind === "If" && at.orelse.length <= 1) {
    count++;
    at = at.orelse[0];
  }
  return at === undefined ? count : null;
}

const QUANTIZES = /["'](?:quantization_config|load_in_[48]bit)["']\]/;

/** What a dict of settings begins with, also behind `{k: v for k, v in settings.items() if v is not None}`. */
function begunWith(value: Expr | null, file: PythonFile): Expr | null {
  const over = value?.kind === "Comp" && value.value ? value.clauses[0]!.iter : null;
  const items = over?.kind === "Call" && over.func.kind === "Attribute" && over.func.attr === "items";
  // A name in there may stand for what the comprehension is assigned to as well.
  const [one, ...more] =
    items && over.func.value.kind === "Name"
      ? file.scopes.reaching(over.func.value).filter((before) => before.value !== value)
      : [];
  return one?.how === "assign" && more.length === 0 ? one.value : value;
}

/** Whether settings that are written down in this file say no type by the time they are handed on here. */
function isUntypedWay({ at: site, settings }: Way, file: PythonFile, project: ProjectFacts): boolean {
  const [one, ...more] = file.scopes.reaching(settings);
  const begun = one?.how === "assign" && more.length === 0 ? begunWith(one.value, file) : null;
  const isDict = begun?.kind === "Dict" && !begun.keys.includes(null);
  const isCall =
    begun?.kind === "Call" &&
    file.dotted(begun.func) === "builtins.dict" &&
    begun.args.every(({ name }) => name !== null);
  if (!one || !(isDict || isCall)) return false;
  const said = new Map(entriesOf(begun));
  for (const use of file.scopes.uses(one)) {
    const at = use.parent;
    if (use.start > site.start || !at || isElsewhere(use, site) || isOneOfSome(use, file, project)) continue;
    if (at.kind === "Subscript" && at.value === use && at.parent?.kind === "Assign") {
      if (!at.parent.targets.includes(at)) continue;
      if (at.index.kind !== "Str" || at.index.value === null) return false;
      said.set(at.index.value, at.parent.value);
    } else if (
      at.kind === "Attribute" &&
      at.parent?.kind === "Call" &&
      /^(?:update|setdefault)$/.test(at.attr)
    ) {
      const put = at.attr === "update" ? updatedBy(at.parent, file) : null;
      if (!put) return false;
      for (const [key, value] of put) said.set(key, value);
    }
  }
  return (
    TYPED.every((key) => !isSaid(said.get(key) ?? null)) && isPlainConfig(said.get("config") ?? null, file)
  );
}

/** None, or a configuration loaded or made here without a word about types, which then decides nothing. */
function isPlainConfig(config: Expr | null, file: PythonFile): boolean {
  if (!config) return true;
  const own = selfAttribute(config);
  const writes = own === null ? [] : (attributesOf(classOf(config)!, file).get(own)?.writes ?? []);
  const made =
    config.kind === "Name"
      ? file.scopes.reaching(config).map(({ how, value }) => (how === "assign" ? value : null))
      : writes.length === 1
        ? [writes[0]!.value]
        : [config];
  return (
    made.length > 0 &&
    made.every((one) => one?.kind === "Call" && (makesConfig(one, file) || isByHelper(one, file))) &&
    !file.says(/\.(?:torch_)?dtype\s*=|\.quantization_config\s*=/)
  );
}

/** `config = get_config(args)`, of this file, which returns such a one. */
function isByHelper({ func }: Call, file: PythonFile): boolean {
  const returned = file.once(returnsByName).get(file.dotted(func) ?? "") ?? [];
  return (
    returned.length > 0 &&
    returned.every((value) => {
      const made = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
      return made?.kind === "Call" && makesConfig(made, file);
    })
  );
}

/** `AutoConfig.from_pretrained(name)`, `CONFIG_MAPPING[model_type]()`, without a word about types. */
function makesConfig(made: Call, file: PythonFile): boolean {
  return (
    (/^transformers\.\w*Config(?:\.from_pretrained)?$/.test(file.dotted(made.func) ?? "") ||
      (made.func.kind === "Subscript" && file.dotted(made.func.value) === "transformers.CONFIG_MAPPING")) &&
    // `GPT2Config(**asdict(sizes))`, in a file that speaks of no types.
    (!hidesArguments(made, file) || !file.says(/dtype|quantiz/)) &&
    !TYPED.some((key) => given(made, key, file))
  );
}

/** `cls = transformers.AutoModel`, then `cls.from_pretrained(…)`; or `cls` is what this file hands to the function. */
function throughName({ func }: Call, file: PythonFile): string {
  const name = func.kind === "Attribute" && func.value.kind === "Name" ? func.value : null;
  const [one, ...more] = name ? file.scopes.reaching(name) : [];
  if (!one || more.length > 0) return "";
  // `cls = AutoModelForCausalLM if decoder else AutoModelForSeq2SeqLM`
  const chosen = one.value?.kind === "IfExp" ? [one.value.body, one.value.orelse] : null;
  if (chosen?.every((each) => /^transformers\.AutoModel\w*$/.test(file.dotted(each) ?? "")) === true)
    return `${file.dotted(chosen[0]!)}.from_pretrained`;
  const [cls, ...others] = one.how === "param" ? handedIn(one, file, true) : [one.value];
  const dotted = cls ? file.dotted(cls) : null;
  return dotted !== null && others.every((other) => other && file.dotted(other) === dotted)
    ? `${dotted}.from_pretrained`
    : "";
}

/** `device_map={"": 0}`, `device_map="auto"`; not one that names the host. */
function isLoadedToDevice(call: Call): boolean {
  const map = keyword(call, "device_map")?.value;
  return map !== undefined && !isNone(map) && !(map.kind === "Str" && map.value === "cpu");
}

/** A network by the class that loads it; tokenizers, processors and configurations are none. */
const LOADS =
  /(?:^|\.)(?!Peft)(?:Auto)?\w*(?:Model(?:For\w+|WithLMHead|WithHeads)?|For(?:CausalLM|MaskedLM|ConditionalGeneration|PreTraining|SequenceClassification|TokenClassification|QuestionAnswering|MultipleChoice|ImageClassification|Vision2Seq|CTC)|LMHeadModel|DoubleHeadsModel|_?model_?(?:class|cls|type)|(?:model|base)_?(?:class|cls))\.from_pretrained$/;

/** No file, class or dict that the call names says a type, and nothing casts what it gives. */
function* likelyUntyped({ file, project, stepLoops }: Facts): Generator<Finding> {
  const trains =
    project.training.has(file.module) ||
    project.trained.has(file.module) ||
    stepLoops.size > 0 ||
    file.says(TRAINS);
  if (
    !trains ||
    (file.says(MADE_HALF) && !isCastByChoice(file)) ||
    /infer|interact|generat|demo|serve|eval|test|convert|export|merge/i.test(file.path)
  )
    return;
  for (const call of file.callsNamed("from_pretrained")) {
    if (!LOADS.test(file.textOf(call.func)) || isOfOthers(call, file) || hasTypedWord(call, file)) continue;
    const fn = functionOf(call);
    if (fn?.kind === "FunctionDef" && /infer|generat|eval|test|convert|export|merge/i.test(fn.name)) continue;
    yield {
      at: call,
      message:
        "Nothing says in which type: float32 on transformers 4, as saved on 5; weights, gradients and optimizer state follow it",
    };
  }
}

/** Of a library that has its own defaults, or an average of weights. */
function isOfOthers({ func }: Call, file: PythonFile): boolean {
  const dotted = file.dotted(func) ?? "";
  const isOwn = dotted === "" || dotted.startsWith(file.module) || OWN.test(dotted);
  return (
    !(isOwn || dotted.startsWith("transformers.")) ||
    /\b(?:Flax|TF[A-Z]|EMA|UNet|ControlNet|VQ|Autoencoder)\w*\.|Transformer[23]DModel/.test(file.textOf(func))
  );
}

const TRAINS =
  /Trainer\b|\.backward\(|torch\.optim|training_step|get_peft_model|\.requires_grad(?:_\(\s*False|\s*=\s*False)/;

/** `if lora: if bf16: model.to(torch.bfloat16)`: in other runs nothing is cast. */
function isCastByChoice(file: PythonFile): boolean {
  return file
    .callsNamed("half", "bfloat16", "to")
    .filter((call) => MADE_HALF.test(file.textOf(call)))
    .every((call) => ancestors(call).some((at) => at.kind === "If" && at.orelse.length === 0));
}

/** `if bits in (4, 8): …`: other numbers are thought of. */
function isAsked({ parent }: Node): boolean {
  return parent?.kind === "If" && parent.test.kind === "Compare" && parent.orelse.length === 0;
}

/** Not `quantization_config=bnb`, of what is None unless somebody asks for few bits. */
function isAlwaysSaid(value: Expr, file: PythonFile): boolean {
  const made = value.kind === "Name" ? file.scopes.reaching(value) : [];
  return isSaid(value) && !made.some((one) => one.how === "assign" && one.value && isNone(one.value));
}

/** `dict(torch_dtype=dtype)`, `{"torch_dtype": dtype}`, or a word of types in what is handed on with others. */
function saysType(made: Call | NodeOf<"Dict">, file: PythonFile): boolean {
  if (made.kind === "Call")
    return made.args.some(
      ({ name, star, value }) => star > 0 || (TYPED.includes(name ?? "") && isAlwaysSaid(value, file)),
    );
  return made.values.some((value, at) => {
    const key = made.keys[at];
    return key?.kind !== "Str" || (TYPED.includes(key.value ?? "") && isAlwaysSaid(value, file));
  });
}

/** A type in the call, or in what it is handed with `**`, unless that is put there by one branch alone. */
function hasTypedWord(call: Call, file: PythonFile): boolean {
  return call.args.some(({ name, star, value }) => {
    if (star === 0)
      return (
        name !== null &&
        (TYPED.includes(name) ? isAlwaysSaid(value, file) : name === "config" && !isPlainConfig(value, file))
      );
    const made = value.kind === "Name" ? file.scopes.reaching(value) : [];
    if (value.kind !== "Name" || made.length === 0 || made.some(({ how }) => how === "param")) return true;
    const says = (node: Node): boolean =>
      TYPED.some((key) => new RegExp(`\\b${key}\\b`).test(file.textOf(node)));
    return made.some(
      (one) =>
        !(
          one.value?.kind === "Dict" ||
          (one.value?.kind === "Call" && file.dotted(one.value.func) === "builtins.dict")
        ) ||
        saysType(one.value, file) ||
        file.scopes.uses(one).some((use) => {
          // `OtherModel.from_pretrained(name, torch_dtype=dtype, **settings)` puts nothing into them.
          const statement = use.parent?.kind === "Arg" && use.parent.star === 2 ? null : statementOf(use);
          return (
            statement !== null &&
            !contains(statement, call) &&
            says(statement) &&
            // What four bits are computed in, `bnb_4bit_compute_dtype`, is not what the rest is loaded in.
            (/\b(?:torch_)?dtype\b/.test(file.textOf(statement)) || !isAsked(statement))
          );
        }),
    );
  });
}

export const rule: Rule = {
  meta: {
    code: "PLM050",
    name: "frozen-base-in-float32",
    summary:
      "A model, or the frozen base of a LoRA model, is loaded without a dtype: float32 on transformers 4",
    severity: "note",
    fix: "unsafe",
    patterns: [50],
  },
  *check(facts) {
    const { file, project } = facts;
    if (file.callsNamed("from_pretrained").length === 0) return;
    if (facts.guesses) return yield* likelyUntyped(facts);
    const frozen = file
      .callsNamed("get_peft_model")
      .some((call) => file.dotted(call.func) === "peft.get_peft_model");
    // A script that only runs the model says elsewhere what it computes in; so may one that trains what is loaded here.
    const elsewhere = project.trained.get(file.module);
    if (
      !frozen &&
      !(elsewhere && !elsewhere.typed) &&
      !project.training.has(file.module) &&
      !/Trainer\b|\.backward\(|torch\.optim|training_step|\.requires_grad(?:_\(\s*False|\s*=\s*False)/.test(
        file.text,
      )
    )
      return;
    for (const call of file.callsNamed("from_pretrained")) {
      const name = file.dotted(call.func) ?? throughName(call, file);
      if (
        !(
          /^transformers\.(?:AutoModel\w*|\w+For[A-Z]\w+|\w+Model)\.from_pretrained$/.test(name) ||
          OWN.test(name)
        )
      )
        continue;
      const settings = settingsOf(call, file);
      const said = TYPED.some((key) => {
        const value = settings?.get(key) ?? null;
        return isSaid(value) && !isLeftOut(key, value!, file, project);
      });
      const isSaidHere = call.args.some(({ name: key, value }) =>
        key === "config" ? !isPlainConfig(value, file) : key !== null && TYPED.includes(key) && isSaid(value),
      );
      // One of several ways to the call, on which nothing is said.
      const untyped =
        (!settings || said) &&
        !isSaidHere &&
        waysTo(call, file).some((way) => isUntypedWay(way, file, project));
      if (
        !untyped &&
        (!settings ||
          call.args.some(({ star }) => star === 1) ||
          (said && !isSaidInOneBranch(call, file)) ||
          !isPlainConfig(settings.get("config") ?? null, file))
      )
        continue;
      // Cast by its owner later: until then the device it was loaded to holds it whole.
      const later = file.says(MADE_HALF);
      if (later && !(frozen && isLoadedToDevice(call))) continue;
      yield {
        at: call,
        message: later
          ? "The base is made half only after it was loaded, in float32 on transformers 4 (as saved on 5): until then the device holds twice the bytes"
          : frozen
            ? "The frozen base is loaded in float32 on transformers 4 (as saved on 5): twice the bytes of bfloat16 for weights that are never updated"
            : "Nothing says in which type: float32 on transformers 4, as saved on 5; weights, gradients and optimizer state follow it",
        // What is trained whole would be updated in the type it was saved in: that is another training.
        ...(said || untyped || !frozen
          ? {}
          : {
              fix: {
                grade: "unsafe" as const,
                title: "Load as saved",
                edits: addKeyword(call, 'torch_dtype="auto"', file),
              },
            }),
      };
    }
  },
};

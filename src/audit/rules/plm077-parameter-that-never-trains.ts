import { isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, namesIn } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Assign, Attribute, Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, isModuleRole, isOnlyMadeBy, isSelf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import { last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsBeyondNames } from "../facts/assigns.ts";

const LAYER =
  "Linear|Conv[123]d|ConvTranspose[123]d|Embedding|EmbeddingBag|LayerNorm|RMSNorm|BatchNorm[123]d|GroupNorm|LSTM|GRU|RNN|LSTMCell|GRUCell|RNNCell|MultiheadAttention|Bilinear|PReLU|Transformer(?:Encoder|Decoder)Layer|Parameter";
const LAYERS = new RegExp(`^torch\\.nn\\.(?:parameter\\.)?(?:${LAYER})$`);
const WORDS = new RegExp(`^(?:${LAYER}|setattr)$`);
/** Methods that hand back the tensor itself, or may. */
const SAME = /_$|^(?:contiguous|float|register_hook)$/;

/** Set to False, what it should freeze goes on training; set to True, what was frozen stays so. */
function noAttribute(value: Expr): string {
  return `A module has no \`requires_grad\`: this sets an attribute nobody reads, and its parameters ${
    value.kind === "Const" && value.value === false ? "go on training" : "stay as they were"
  }; call \`requires_grad_(…)\``;
}

/** `model.requires_grad_ = False` */
const REPLACED =
  "`requires_grad_` is a method: this puts a value in its place and calls nothing, so the parameters stay as they were; call `requires_grad_(…)`";

export const rule: Rule = {
  meta: {
    code: "PLM077",
    name: "parameter-that-never-trains",
    summary:
      "A parameter is moved into a non-leaf, a layer is made inside forward, or a module is frozen by an attribute it does not have",
    severity: "error",
    fix: "none",
    patterns: [77],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.calls.matching(WORDS)) {
      const name = file.dotted(call.func) ?? "";
      const copy = /^torch\.nn\.(?:parameter\.)?Parameter$/.test(name) ? storedCopy(call, call, facts) : null;
      if (copy)
        yield {
          at: copy,
          message:
            "What is stored is a copy of the parameter, no parameter itself: the optimizer never sees it; move the data first, then wrap it",
        };
      if (isFreezing(call, facts)) yield { at: call, message: noAttribute(call.args[2]!.value) };
      if (LAYERS.test(name) && isMadeInForward(call, facts))
        yield {
          at: call,
          ...(isUnderTest(call) ? { severity: "note" as const } : {}),
          message: `A new \`${last(name)}\` with random weights in every forward: it is allocated each time and never trained`,
        };
      else if (LAYERS.test(name) && isMadeInStep(call, facts))
        yield {
          at: call,
          message: `A new \`${last(name)}\` with random weights on every step: it is allocated each time and never trained`,
        };
    }
    if (facts.guesses) yield* likelyCopies(facts);
    // `normalization(width).to(h.device)(h)`: what is sent somewhere and then called is a module, whoever makes it.
    for (const moved of file.callsNamed("to", "cuda")) {
      const made = moved.func.kind === "Attribute" ? moved.func.value : null;
      if (made?.kind !== "Call" || (moved.parent?.kind !== "Call" && moved.parent?.kind !== "Assign"))
        continue;
      const name = file.dotted(made.func);
      if (
        name !== null &&
        !/^(?:torch|builtins)\./.test(name) &&
        isMadeInForward(made, facts) &&
        isUsedHere(made, facts)
      )
        yield {
          at: made,
          // It may hand out one that is there already.
          severity: "note",
          message: `\`${last(name)}\` makes a module in every forward: it is allocated each time and never trained`,
        };
    }
    for (const statement of assignsBeyondNames(file))
      for (const target of switchesOf(statement)) {
        if (target.attr === "requires_grad_") {
          if (statement.value.kind === "Const") yield { at: statement, message: REPLACED };
          continue;
        }
        // What a module keeps for itself under that name is its own affair.
        if (target.attr !== "requires_grad" || (isSelf(target.value) && statement.value.kind !== "Const"))
          continue;
        const isAsked = isAskedModule(statement, target.value, facts);
        if (!isAsked && isToldApart(statement, target.value, facts)) continue;
        if (isDoneBeside(statement, target.value, facts)) continue;
        const message = noAttribute(statement.value);
        if (isAsked || isModule(target.value, facts)) yield { at: statement, message };
        else if (
          isTreatedAsModule(target.value, facts) ||
          (facts.guesses && isLikelyModule(target.value, facts))
        )
          yield { at: statement, severity: "note", message };
      }
  },
};

/**
 * What is likely: a leaf is moved and what that gives is kept, under a name that an optimizer is given, in a list, or on another
 * object; a layer is made and run at once by any function that is not there to make things.
 */
function* likelyCopies(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const moved of file.callsNamed("to", "cuda", "half", "double")) {
    const leaf = moved.func.kind === "Attribute" ? moved.func.value : null;
    if (leaf?.kind !== "Call" || !isLeaf(leaf, file) || !isCopied(moved, leaf, facts)) continue;
    if (isKept(moved, file))
      yield {
        at: moved,
        message:
          "What is kept is a copy of the leaf that gets the gradients, not the leaf itself: no optimizer changes it; move the data first",
      };
  }
  for (const call of file.calls.matching(WORDS)) {
    const fn = functionOf(call);
    const name = file.dotted(call.func) ?? "";
    if (!LAYERS.test(name) || name.endsWith("Parameter") || fn?.kind !== "FunctionDef") continue;
    if (MAKES.test(fn.name) || !isUsedHere(call, facts) || facts.gradMode(call) === "off") continue;
    if (fn.params.some((param) => param.name !== "self" && param.star === 0) && isRunOnGiven(call, fn))
      yield {
        at: call,
        message: `A new \`${last(name)}\` with random weights in every call: it is allocated each time and never trained`,
      };
  }
}

/** What is there to make things, or to try them. */
const MAKES =
  /^_*(?:init|build|make|create|setup|reset|get|main|test|demo|example|check|profile)|test|bench|demo/i;

/** `Parameter(x)`, `torch.zeros(1, requires_grad=True)` */
function isLeaf(made: Call, file: PythonFile): boolean {
  const name = file.dotted(made.func) ?? "";
  return (
    /^torch\.nn\.(?:parameter\.)?Parameter$/.test(name) ||
    (/^torch\.[a-z]\w*$/.test(name) && isTrue(keyword(made, "requires_grad")?.value ?? null))
  );
}

/** The move gives another tensor: not `.to(torch.float32)`, and not where it is made on that device. */
function isCopied(moved: Call, leaf: Call, facts: Facts): boolean {
  const { file } = facts;
  return (
    !isSameType(moved, facts) &&
    !isMovedBefore(leaf, moved, facts) &&
    keyword(leaf, "device") === null &&
    !moved.args.some(({ value }) => value.kind === "Str" && value.value === "cpu") &&
    !/device\s*=|\.to\(|\.cuda\(/.test(leaf.args.map((arg) => file.textOf(arg)).join())
  );
}

function isKept(moved: Call, file: PythonFile): boolean {
  let at: Node = moved;
  while (at.parent && /^(?:List|Tuple|Dict|Comp|IfExp)$/.test(at.parent.kind)) at = at.parent;
  const { parent } = at;
  if (parent?.kind === "Return") return true;
  // `self.scales.append(Parameter(x).cuda())`
  if (parent?.kind === "Arg" && parent.parent?.kind === "Call")
    return /^(?:append|insert|extend|setattr)$/.test(lastWord(parent.parent.func));
  if (parent?.kind !== "Assign" || parent.value !== at) return false;
  return parent.targets.some((target) => {
    if (target.kind !== "Name") return target.kind === "Attribute" || target.kind === "Subscript";
    const made = file.scopes.definitionAt(target);
    return made !== null && file.scopes.uses(made).some(isOptimised);
  });
}

/** `Adam([scale], lr)`, `params.append(scale)`, `{"params": [scale]}` */
function isOptimised(use: Node): boolean {
  return ancestors(use).some(
    (at) =>
      at.kind === "Call" &&
      /^(?:Adam\w*|SGD|RMSprop|Adagrad|LBFGS|AdamW|optimizer\w*|add_param_group)$/.test(lastWord(at.func)),
  );
}

/** `Linear(x.shape[1], 8)(x)`, of what the function is given. */
function isRunOnGiven(call: Call, fn: FunctionDef): boolean {
  return namesIn(call).some(({ id }) => fn.params.some(({ name }) => name === id && name !== "self"));
}

/** `if isinstance(m, nn.BatchNorm2d): m.requires_grad = False`: a layer of torch, whatever it came from. */
function isAskedModule(statement: Assign, target: Expr, { file }: Facts): boolean {
  const [test] = ancestors(statement).flatMap((at) =>
    at.kind === "If" && at.test.kind === "Call" && at.body.some((one) => contains(one, statement))
      ? [at.test]
      : [],
  );
  if (!test || file.dotted(test.func) !== "builtins.isinstance") return false;
  const [asked, kinds] = [positional(test, 0), positional(test, 1)];
  const each = kinds?.kind === "Tuple" ? kinds.items : kinds ? [kinds] : [];
  return (
    asked !== null &&
    file.textOf(asked) === file.textOf(target) &&
    each.length > 0 &&
    each.every((one) => LAYERS.test(file.dotted(one) ?? "") && lastWord(one) !== "Parameter")
  );
}

/** `if isinstance(x, nn.Parameter): x.requires_grad = True`, and wherever else `x` is asked what it is. */
function isToldApart(statement: Assign, target: Expr, { file }: Facts): boolean {
  const asked = `isinstance(${file.textOf(target)},`;
  return ancestors(statement).some(
    (at) =>
      at.kind === "If" && (/Parameter\b/.test(file.textOf(at.test)) || file.textOf(at.test).includes(asked)),
  );
}

/** `for p in module.parameters(): p.requires_grad = False` beside it: what is put on the module only says so. */
function isDoneBeside(statement: Assign, module: Expr, { file }: Facts): boolean {
  const text = file.textOf(module);
  return file.callsNamed("parameters", "named_parameters").some((call) => {
    const loop = call.func.kind === "Attribute" && file.textOf(call.func.value) === text ? call.parent : null;
    return (
      loop?.kind === "For" &&
      functionOf(call) === functionOf(statement) &&
      /\brequires_grad/.test(loop.body.map((one) => file.textOf(one)).join())
    );
  });
}

/** A parameter of a function that this file gives a module somewhere: `switch(model.encoder, False)`. */
function isGivenModule(param: Definition, facts: Facts): boolean {
  return handedIn(param, facts.file, true).some(
    (given) =>
      // What is only handed on may come from here again.
      !(given.kind === "Name" && facts.file.scopes.reaching(given).some(({ how }) => how === "param")) &&
      isModule(given, facts),
  );
}

/** By its name, where it is no parameter by that. */
function isLikelyModule(expr: Expr, facts: Facts): boolean {
  const word = lastWord(expr);
  const [given] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  // `for part in (net.stem, net.body):`
  if (given?.how === "iterate" && (given.value?.kind === "Tuple" || given.value?.kind === "List"))
    return given.value.items.some((one) => one.kind === "Attribute" && isLikelyModule(one, facts));
  return (
    expr.kind !== "Call" &&
    // That it has a `requires_grad` is the guess in question.
    (expr.kind === "Attribute" ||
      word.endsWith("module") ||
      !/^(?:tensor|output|number)$/.test(facts.value(expr).what)) &&
    !isOverParameters(expr, facts) &&
    LIKELY_MODULE.test(expr.kind === "Subscript" ? lastWord(expr.value) : word)
  );
}

const LIKELY_MODULE =
  /^(?:\w+_)?(?:model|net|network|module|encoder|decoder|backbone|head|layers?|blocks?|stem|trunk|tower|teacher|student|generator|discriminator|critic|actor|policy|vae|unet|bert|gpt|lm|vgg|resnet|clip|projector|projection|classifier|extractor|transformer|embeddings|patch_embed|conv\d*|fc\d*|bn\d*|norm\d*|linear\d*|lstm|gru|rnn|mlp|adapter)(?:_?\d+|_[a-z])?$/i;

function isOverParameters(expr: Expr, { file }: Facts): boolean {
  return (
    expr.kind === "Name" &&
    file.scopes
      .reaching(expr)
      .some(({ value }) => value !== null && /param|weight|grad/i.test(file.textOf(value)))
  );
}

/** `a.requires_grad = b.requires_grad = False`, `a.requires_grad, b.requires_grad = False, False` */
function switchesOf({ targets }: Assign): readonly Attribute[] {
  const found: Attribute[] = [];
  for (const target of targets)
    for (const one of target.kind === "Tuple" ? target.items : [target])
      if (one.kind === "Attribute" && one.attr.startsWith("requires_grad")) found.push(one);
  return found;
}

/** `setattr(model.encoder, "requires_grad", False)` */
function isFreezing(call: Call, facts: Facts): boolean {
  const [of, name, value] = call.args;
  return (
    facts.file.dotted(call.func) === "builtins.setattr" &&
    name?.value.kind === "Str" &&
    name.value.value === "requires_grad" &&
    value?.value.kind === "Const" &&
    isModule(of!.value, facts)
  );
}

/** `.to(torch.float32)` of what is float32 gives back the parameter itself. */
function isSameType(call: Call, facts: Facts): boolean {
  const [arg] = call.args;
  const type = arg && call.args.length === 1 ? (facts.file.dotted(arg.value) ?? "") : "";
  if (!/^torch\.(?:float|half|bfloat|double|int|long)\w*$/.test(type)) return false;
  const made = facts.file.textOf((call.func as Expr & { kind: "Attribute" }).value);
  return made.includes("dtype") ? made.includes(last(type)) : /^torch\.float(?:32)?$/.test(type);
}

/** `Parameter(x.to(device)).to(device)` gives back the parameter itself too. */
function isMovedBefore(made: Call, call: Call, { file }: Facts): boolean {
  const given = made.args[0]?.value;
  const moved = given?.kind === "Call" && given.func.kind === "Attribute" && given.func.attr === "to";
  const where = ({ args }: Call): string => args.map((arg) => file.textOf(arg)).join();
  return moved && where(given) === where(call);
}

/** `nn.init.normal_(Parameter(x).cuda())` hands back what it fills. */
function isInitialised(parent: Node | null, { file }: Facts): boolean {
  return (
    parent?.kind === "Arg" &&
    parent.parent?.kind === "Call" &&
    parent.parent.args[0] === parent &&
    /^torch\.nn\.init\.\w+_$/.test(file.dotted(parent.parent.func) ?? "")
  );
}

/** What is computed from the parameter and stored on the module in its place: `Parameter(x).to(device)`, `Parameter(x) * 0.02`. */
function storedCopy(from: Expr, made: Call, facts: Facts): Expr | null {
  let at: Expr = from;
  let copied = false;
  for (;;) {
    const parent: Node | null = at.parent;
    if (parent?.kind === "Binary") {
      at = parent;
      copied = true;
    } else if (
      parent?.kind === "Attribute" &&
      parent.parent?.kind === "Call" &&
      parent.parent.func === parent
    ) {
      const same =
        SAME.test(parent.attr) ||
        (parent.attr === "to" &&
          (isSameType(parent.parent, facts) || isMovedBefore(made, parent.parent, facts)));
      at = parent.parent;
      copied ||= !same;
    } else if (isInitialised(parent, facts)) at = parent!.parent as Call;
    else break;
  }
  // `gain = Parameter(x)`, and all that is done with it is `self.gain = gain.cuda()`.
  const given = at.parent?.kind === "Assign" && at.parent.value === at ? at.parent.targets[0] : null;
  const named = !copied && given?.kind === "Name" ? facts.file.scopes.definitionAt(given) : null;
  const [use, ...more] = named ? facts.file.scopes.uses(named) : [];
  if (use && more.length === 0 && functionOf(use) === functionOf(made)) return storedCopy(use, made, facts);
  // `self.scales = [Parameter(x).to(device) for …]`, `self.scales = {"a": Parameter(x).to(device)}`
  while (
    at.parent?.kind === "Comp" ||
    at.parent?.kind === "List" ||
    at.parent?.kind === "Dict" ||
    // `Parameter(x).to(device) if learned else 1`
    (at.parent?.kind === "IfExp" && at.parent.test !== at)
  )
    at = at.parent;
  const statement = at.parent;
  return copied &&
    statement?.kind === "Assign" &&
    statement.value === at &&
    statement.targets.some((target) => selfAttribute(target) !== null)
    ? at
    : null;
}

function isMadeInForward(call: Call, facts: Facts): boolean {
  const cls = classOf(call);
  const fn = cls ? methodAround(call, cls) : null;
  if (!cls || !fn || !isModuleRole(facts.role(cls))) return false;
  // A method that forward calls makes what it uses itself; one that hands it out may be called once.
  if (
    !/^(?:forward|training_step)$/.test(fn.name) &&
    !((facts.functionFacts(call).hot !== null || fn.name.startsWith("forward_")) && isUsedHere(call, facts))
  )
    return false;
  // Under a test it may well be made once and kept, `if self.layer is None: self.layer = Linear(...)`, unless all that has it is a
  // name of this call.
  for (const at of ancestors(call)) {
    if (at === fn) return true;
    if (at.kind === "If" || at.kind === "IfExp" || at.kind === "Try") return isUsedHere(call, facts);
  }
  return false;
}

function isUnderTest(call: Call): boolean {
  const fn = functionOf(call);
  return ancestors(call).some(
    (at) => fn !== null && contains(fn, at) && (at.kind === "If" || at.kind === "IfExp" || at.kind === "Try"),
  );
}

/** The method that the call stands in, also by a function inside it: `def gate(h): return Conv2d(n, 1, 1).to(h.device)(h)`. */
function methodAround(call: Call, cls: ClassDef): FunctionDef | null {
  let fn = functionOf(call);
  while (fn && fn.parent !== cls) fn = functionOf(fn);
  return fn?.kind === "FunctionDef" ? fn : null;
}

/** In a step that is no module's, and only ever called: no optimizer gets to see it. */
function isMadeInStep(call: Call, facts: Facts): boolean {
  const cls = classOf(call);
  if (cls && isModuleRole(facts.role(cls))) return false;
  return isUsedHere(call, facts) && facts.everyStep(call) !== null;
}

/** Called at once, or by the local name it is given. */
function isUsedHere(call: Call, facts: Facts): boolean {
  let made: Node = call;
  while (
    made.parent?.kind === "Attribute" &&
    made.parent.parent?.kind === "Call" &&
    made.parent.parent.func === made.parent
  )
    made = made.parent.parent;
  if (made.parent?.kind === "Call" && made.parent.func === made) return true;
  const target = made.parent?.kind === "Assign" ? made.parent.targets[0] : null;
  const definition = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  const uses = definition ? facts.file.scopes.uses(definition) : [];
  const isUse =
    last(facts.file.dotted(call.func) ?? "") === "Parameter"
      ? // `q @ weight`
        ({ parent }: Node): boolean => parent?.kind === "Binary"
      : (use: Node): boolean => use.parent?.kind === "Call" && use.parent.func === use;
  return uses.length > 0 && uses.every(isUse);
}

/** What networks call those of their parts that are networks; tables and tokens that learn are called otherwise. */
const PARTS =
  /^(?:\w*(?:encoder|decoder|backbone|cnn|resnet\d*|inception|vgg\d*|bert|classifier|extractor|trunk))$/i;

/** Made as one, handed out by a loop over modules, or a part of a network that is no parameter by its name. */
function isModule(expr: Expr, facts: Facts): boolean {
  const definitions = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  // `for old, new in zip(teacher.parameters(), student.parameters()):`
  if (
    definitions.some(
      ({ how, value }) => how === "iterate" && value && /parameters\b/.test(facts.file.textOf(value)),
    )
  )
    return false;
  if (facts.value(expr).what === "module") return true;
  // `model.get_input_embeddings()`
  if (
    expr.kind === "Call" &&
    /^get_(?:(?:in|out)put_embeddings|encoder|decoder|submodule)$/.test(lastWord(expr.func))
  )
    return true;
  if (expr.kind === "Name") {
    const [one, ...more] = definitions;
    return (
      facts.networks.is(expr) ||
      (one?.how === "param" && more.length === 0 && isGivenModule(one, facts)) ||
      (definitions.length > 0 &&
        definitions.every(({ how, value, index }) => {
          if (how !== "iterate" || value === null) return false;
          if (holdsModules(value, index, expr.id, facts)) return true;
          const over = facts.file.textOf(value);
          // `for model in models_to_freeze:`
          if (
            /^(?:model|net|network|module)$/.test(expr.id) &&
            /^(?:\w*_)?(?:models|nets|networks|modules)(?:_\w+)?$/.test(over)
          )
            return true;
          return /\.named_(?:children|modules)\(\)|\._modules\.items\(\)/.test(over)
            ? index === 1
            : /\.(?:children|modules|_modules\.values)\(\)|\.(?:layers?|blocks|features|h|stages)(?:\[[^\]]*\])?$/.test(
                over,
              );
        }))
    );
  }
  // `self.vae = AutoencoderKL.from_pretrained(…)`
  if (
    selfAttribute(expr) !== null &&
    facts.networks.is(expr) &&
    isOnlyMadeBy(expr, facts.file, (made) => /\.from_pretrained\(/.test(facts.file.textOf(made)))
  )
    return true;
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  // `self.backbone = resnet.get_resnet(50)`: by its name, and made by a class or a function that is called for it.
  if (
    cls &&
    isModuleRole(facts.role(cls)) &&
    /^(?:\w+_)?(?:backbone|encoder|decoder|extractor|trunk|base_model|vgg|resnet)(?:_[a-z]|\d)?$/.test(
      own!,
    ) &&
    isOnlyMadeBy(expr, facts.file, () => true)
  )
    return true;
  // `self.teacher(x)`, of a module: a tensor, which has the attribute, cannot be called.
  if (cls && isModuleRole(facts.role(cls)) && isCalled(own!, cls, facts)) return true;
  // `model[0]` of a Sequential.
  if (expr.kind === "Subscript" && expr.index.kind === "Num" && facts.networks.is(expr.value)) return true;
  // `stem[i]`, where `stem = list(net.body)`
  if (
    expr.kind === "Subscript" &&
    expr.index.kind !== "Slice" &&
    expr.value.kind === "Name" &&
    holdsModules(expr.value, null, expr.value.id, facts)
  )
    return true;
  const owner = rootOf(expr);
  if (
    expr.kind === "Attribute" &&
    owner !== null &&
    isWhole(owner, facts) &&
    isLayerOfClasses(expr.attr, facts)
  )
    return true;
  // `model.encoder.inception`
  if (expr.kind === "Attribute" && owner !== null && isWhole(owner, facts) && PARTS.test(expr.attr))
    return true;
  // `net = UNet(3)`, or `self.net`, whose class, maybe of another file, makes the part.
  if (expr.kind === "Attribute" && facts.partsOf(expr.value).includes(expr.attr)) return true;
  return (
    expr.kind !== "Call" &&
    owner !== null &&
    isWhole(owner, facts) &&
    /(?:embeddings?|embed_tokens|[._](?:wte|wpe|ln_f)|encoder|decoder|backbone|layers?|layer\d|head|classifier|features|stem|blocks?|fc|body|trunk|model|bert|roberta|res(?:net|next)\w*|vgg\d*|densenet\d*|mobilenet|efficientnet|transformer|vision_tower|visual|neck|projector|resampler|connector|language_model|unet|vae|[._](?:h(?=\[)|shared)|(?:encoder|decoder|backbone|net|model)_[a-z]|[._](?:convs?|bn|norm|attn|attention|mlp|linear|rnns?|lstm|gru|fc)\d*)(?:\[[-\w]+\])?$/.test(
      facts.file.textOf(expr),
    )
  );
}

/** What is asked of modules; of these a tensor knows the last alone. */
const ASKED =
  /^(?:eval|train|apply|get_submodule|(?:named_)?(?:parameters|modules|children)|(?:load_)?state_dict|requires_grad_)$/;

/**
 * By what the file asks of it elsewhere, `self.codec.eval()`, `models["D"].parameters()`, or of a part of it,
 * `model.visual.pool.requires_grad_(True)`: no tensor has either.
 */
function isTreatedAsModule(expr: Expr, { file }: Facts): boolean {
  if (expr.kind === "Call" || isSelf(expr)) return false;
  const text = file.textOf(expr);
  const within = selfAttribute(expr) === null ? functionOf(expr) : classOf(expr);
  // What goes by a name of its own may be a record that holds modules among other things.
  const isPart = (owner: string): boolean =>
    expr.kind !== "Name" && owner.startsWith(`${text}.`) && !/\.(?:data|grad)$/.test(owner);
  return file.calls.matching(ASKED).some(({ func }) => {
    if (func.kind !== "Attribute" || (within && !contains(within, func))) return false;
    const owner = file.textOf(func.value);
    return owner === text ? func.attr !== "requires_grad_" : isPart(owner);
  });
}

/** A network, by what the file does with it, or made by a library of them: `whole = torchvision.models.vgg16()`. */
function isWhole(expr: Expr, { file, networks }: Facts): boolean {
  if (networks.is(expr)) return true;
  const definitions = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ how, value }) =>
        how === "assign" &&
        value?.kind === "Call" &&
        /^(?:torchvision\.models\.(?:\w+\.)*[a-z]\w*|timm\.create_model|torch\.hub\.load|(?:transformers|diffusers)\.(?:\w+\.)*\w*(?:Model|For[A-Z]|Autoencoder|UNet)\w*\.from_pretrained)$/.test(
          file.dotted(value.func) ?? "",
        ),
    )
  );
}

function isCalled(own: string, cls: ClassDef, { file }: Facts): boolean {
  return file.callsNamed(own).some(({ func }) => selfAttribute(func) === own && classOf(func) === cls);
}

/** Each item is a module: of a part of a network, of its children, or of what is listed one by one. */
function holdsModules(value: Expr, index: number | null, item: string, facts: Facts): boolean {
  const list = walked(value, index, facts);
  if (!list) return false;
  // `for part in (model.stem, model.layer1):`
  if (list.kind === "List" || list.kind === "Tuple")
    return list.items.length > 0 && list.items.every((one) => isModule(one, facts));
  const text = facts.file.textOf(list);
  if (list.kind === "Call")
    return (
      /^torch\.nn\.(?:Sequential|ModuleList)$/.test(facts.file.dotted(list.func) ?? "") ||
      /\.(?:children|modules)\(\)$/.test(text) ||
      (index === 1 && /\.named_(?:children|modules)\(\)$/.test(text))
    );
  return list.kind === "Attribute" && isModule(list, facts) && !WEIGHTS.test(`${item} ${text}`);
}

/**
 * What a loop goes through, whole or cut, under the name it was given: `net.body` of `net.body[:-1]`, of `enumerate(net.body)`,
 * and of `stem`, where `stem = list(net.body)[:4]`.
 */
function walked(over: Expr, index: number | null, facts: Facts): Expr | null {
  const { file } = facts;
  let list = over;
  for (let steps = 0; steps < 8; steps++) {
    const name = list.kind === "Call" ? (file.dotted(list.func) ?? "") : "";
    if (list.kind === "Call" && /^builtins\.(?:enumerate|reversed|list|tuple)$/.test(name)) {
      if (name === "builtins.enumerate" && (list !== over || index !== 1)) return null;
      list = list.args[0]?.value ?? list;
    } else if (list.kind === "Subscript" && list.index.kind === "Slice") list = list.value;
    else {
      const [one, ...more] = list.kind === "Name" ? file.scopes.reaching(list) : [];
      if (one?.how !== "assign" || !one.value || more.length > 0) return list;
      list = one.value;
    }
  }
  return null;
}

/** What may be a list of parameters. */
const WEIGHTS = /^(?:p|w|b|t)\b|param|weight|bias|embed|token|prompt|tensor/i;

/** An attribute that the classes of this file only ever give a module. */
function isLayerOfClasses(name: string, facts: Facts): boolean {
  const writes = facts.file
    .all("ClassDef")
    .flatMap((cls) => attributesOf(cls, facts.file).get(name)?.writes ?? []);
  return (
    writes.length > 0 &&
    writes.every(
      ({ value }) =>
        value?.kind === "Call" &&
        /^torch\.nn\.(?!Parameter|parameter|functional)/.test(facts.file.dotted(value.func) ?? ""),
    )
  );
}

function rootOf(expr: Expr): Expr | null {
  let at: Expr = expr;
  while (at.kind === "Attribute" || at.kind === "Subscript") {
    if (selfAttribute(at) !== null) return at === expr ? null : at;
    at = at.value;
  }
  return at === expr || at.kind !== "Name" ? null : at;
}

import { isBehindOwnOption } from "./behind-options.ts";
import { isFalse, isTrue, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, ClassDef, Expr, Node } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import { handedIn } from "./handed-in.ts";
import { returnsByName } from "./returns.ts";
import { last } from "./torch-names.ts";

/** Only networks have these and can be called as well. */
const NETWORK_METHODS = new Set(["eval", "train", "parameters", "named_parameters", "named_modules"]);
const ANSWERS = /^(?:last_hidden_state|pooler_output)$/;
/** What people call a network. Only asked of something that is called and bound to no function. */
const NETWORK_NAME =
  /^(?:\w*_)?(?:model|net|network|unet|transformer|teacher|student|reference|policy|backbone|generator|discriminator|critic|actor|rnn|lstm|gru|resnet|vgg|classifier|autoencoder|encoder|decoder|denoiser|lm|llm|gpt|bert|vae)(?:_\w*)?$|^net[A-Z]\w*$/i;
/** As papers write them. */
const LETTER = /^(?:[GD]|GD)(?:_(?:[A-Z]\w*|aug|ema|ddp|net|model))?$/;
/** In short. */
const SHORT =
  /^(?:gen|disc|dis|enc|dec|clf|cnn|mlp|gcn|gat|gnn|dqn|[a-z]{1,4}(?:model|net))(?:_[a-z]|_[A-Z]\w*|\d)?$/;
/** `self.models["encoder"]` */
const SEVERAL = /^(?:\w*_)?(?:models|nets|networks|module_list|model_list|modules)$/i;
/** Named after a network that it serves: `teacher_tokenizer`, `model_config`. */
const NOT_A_NETWORK =
  /(?:processor|tokenizer|config|collator|loader|optimizer|opt|scheduler|dataset|transforms?|path|name|type|class|cls|fn|func|factory|builder|args|kwargs|id|card|output|outputs|input|inputs|info|infos|list|size|url|repo|dir|file|files|names|map|ids|hash|version|cost|summary|stats|flops|keys|status|train_?step|update|loop|epoch|iteration|normali[sz]e|preprocess|augment)$/i;
/** What is done with a network, not one: `get_unet`, `self.build_model`. */
const DEED =
  /^_*(?:get|make|build|create|load|init|setup|prepare|wrap|unwrap|save|set|reset|update|train|fit|eval|evaluate|test|validate|run|freeze|unfreeze|register|configure|export|convert|compile|sample|count|print|log|add|remove|find|select|choose|download|restore|check|is|has|show|plot|report|record|write|read|reduce|gather|aggregate|format|parse|store|track|draw|smooth|include|exclude|skip|keep|use|drop|filter)_/i;
const LOSS_NAME =
  /^(?:\w*_)?(?:criterion|crit|loss|loss_?fn|loss_?func|loss_?fct|loss_?function|objective)(?:_\w+)?$/i;

/** The class of one: `nn.MSELoss`. */
const MAKES_LOSS = /^[A-Z]\w*(?:Loss|Criterion)$/;

/** What computes a loss is mostly called so, or stands in a file that is. */
export const OF_LOSSES = /loss|criteri/i;

/** A `perceptual_loss_net` is a network that a loss is made with. */
export const isLossName = (name: string): boolean =>
  LOSS_NAME.test(name) && !/_(?:net|network|model)$/i.test(name);

/** The words that make a call one of a network or a loss, where nothing but its name says so. */
const CALLED = new RegExp(
  `${NETWORK_NAME.source}|${LETTER.source}|${SHORT.source}|${LOSS_NAME.source}|^self$|(?:loss|entropy\\w*)$`,
  "i",
);

/** Methods that make what an object has from the start. */
const STARTS = /^(?:__init__|_?(?:init|build|setup|load|freeze)\w*)$/;

function startsIn(node: Node): boolean {
  const fn = functionOf(node);
  return fn?.kind === "FunctionDef" && STARTS.test(fn.name);
}

const SETTINGS = /^(?:self|cls|\w*(?:args|cfg|config|conf|opts?|options|hparams|hps?|settings|params))$/i;

/** Which names and attributes of a file are networks. */
export class Networks {
  readonly #file: PythonFile;
  readonly #isModule: (cls: ClassDef) => boolean;
  readonly #used = new Set<unknown>();
  /** Names of other files, `from config import net`, that are used as networks are. */
  readonly #imported = new Set<string>();
  readonly #unasked = new Set<unknown>();
  readonly #frozen = new Set<unknown>();
  readonly #evaluating = new Set<unknown>();
  #losses: Set<unknown> | null = null;
  /** Of `is`, which many rules ask of the same calls. */
  readonly #answers = new Map<Expr, boolean>();
  readonly #handed = new Map<Definition, boolean>();

  constructor(file: PythonFile, isModule: (cls: ClassDef) => boolean) {
    this.#file = file;
    this.#isModule = isModule;
    const modes = new Map<unknown, { trains: boolean; evaluates: boolean; always?: boolean }>();
    // Frozen in a run for which nobody asks anything.
    const plainly = new Set<unknown>();
    for (const call of file.callsNamed(...NETWORK_METHODS, "requires_grad_")) {
      if (call.func.kind !== "Attribute" || call.args.length > 1) continue;
      const { attr, value } = call.func;
      if (!NETWORK_METHODS.has(attr) && attr !== "requires_grad_") continue;
      if (value.kind === "Name" && file.dotted(value) !== null) this.#imported.add(value.id);
      const key = this.key(moved(value));
      if (key === null) continue;
      if (attr === "requires_grad_") {
        if (!isFalse(positional(call, 0))) continue;
        this.#frozen.add(key);
        if (!isBehindOwnOption(call, file)) plainly.add(key);
        continue;
      }
      this.#used.add(key);
      const mode = modes.get(key) ?? { trains: false, evaluates: false };
      if (attr === "eval" || (attr === "train" && isFalse(positional(call, 0)))) {
        // A part of a module is trained with the whole; only what is so from the start, or kept so, never is.
        if (typeof key !== "string" || !this.#isPart(call)) mode.evaluates = true;
      } else if (attr === "train" || trains(call, file)) {
        mode.trains = true;
        mode.always ||= !isBehindOwnOption(call, file);
      }
      modes.set(key, mode);
    }
    // `engine, optimizer, _, _ = deepspeed.initialize(model=net)`
    for (const call of file.callsNamed("initialize")) {
      const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
      const engine = target?.kind === "Tuple" ? target.items[0] : null;
      const key =
        engine && /^(?:deepspeed|colossalai)\.initialize$/.test(file.dotted(call.func) ?? "")
          ? this.key(engine)
          : null;
      if (key !== null) this.#used.add(key);
    }
    // `t5(input_ids=ids).last_hidden_state`: only networks of transformers answer so.
    if (file.says(/\)\.(?:last_hidden_state|pooler_output)\b/))
      for (const { attr, value } of file.all("Attribute")) {
        const key = ANSWERS.test(attr) && value.kind === "Call" ? this.key(value.func) : null;
        if (key !== null) this.#used.add(key);
      }
    // `target = deepcopy(net)`
    for (const call of file.callsNamed("deepcopy")) {
      const source = positional(call, 0);
      const statement = call.parent;
      if (statement?.kind !== "Assign" || statement.value !== call || !source) continue;
      const [of, copy] = [this.key(source), this.key(statement.targets[0]!)];
      if (of !== null && copy !== null && this.#used.has(of)) this.#used.add(copy);
    }
    for (const loop of file.all("For")) {
      if (loop.iter.kind !== "Call" || loop.iter.func.kind !== "Attribute") continue;
      if (!/^(?:named_)?parameters$/.test(loop.iter.func.attr)) continue;
      const key = this.key(loop.iter.func.value);
      if (key !== null && /requires_grad(?:_\(|\s*=\s*)False/.test(file.codeOf(loop))) this.#frozen.add(key);
    }
    for (const statement of file.callsNamed("eval", "requires_grad_").length > 0 ? file.all("Assign") : [])
      for (const target of statement.targets) {
        // `teacher = load().to(device).eval()`
        const chain = statement.value.kind === "Call" ? calledOn(madeAs(statement.value, file)) : [];
        const key = chain.includes("eval") || chain.includes("requires_grad_") ? this.key(target) : null;
        if (key === null) continue;
        if (chain.includes("requires_grad_")) this.#frozen.add(key);
        if (!chain.includes("eval")) continue;
        this.#used.add(key);
        const mode = modes.get(key) ?? { trains: false, evaluates: true };
        mode.evaluates = true;
        modes.set(key, mode);
      }
    // `Vgg16(requires_grad=False)`
    for (const call of file.calls.given(["requires_grad", "trainable", "freeze", "frozen"])) {
      if (!/^[A-Z]/.test(lastWord(call.func))) continue;
      const statement = call.args.some(
        ({ name, value }) =>
          (/^(?:requires_grad|trainable)$/.test(name ?? "") && isFalse(value)) ||
          (/^(?:freeze|frozen)$/.test(name ?? "") && isTrue(value)),
      )
        ? statementOf(call)
        : null;
      const key =
        statement?.kind === "Assign" && moved(statement.value) === call
          ? this.key(statement.targets[0]!)
          : null;
      if (key !== null) this.#frozen.add(key);
    }
    // Whatever was pickled or traced may have been frozen before.
    for (const call of file.callsNamed("load")) {
      if (!/^(?:pickle|dill|cloudpickle|torch\.jit)\.load$/.test(file.dotted(call.func) ?? "")) continue;
      const statement = statementOf(call);
      const key = statement?.kind === "Assign" ? this.key(statement.targets[0]!) : null;
      if (key !== null) this.#frozen.add(key);
    }
    // `vgg = load().eval()`, and then `self.vgg = vgg`
    for (const { value, targets } of modes.size + this.#frozen.size > 0 ? file.all("Assign") : []) {
      const own = value.kind === "Name" ? selfAttribute(targets[0]!) : null;
      const from = own === null ? null : this.key(value);
      const [key, mode] = from === null ? [null, undefined] : [this.key(targets[0]!), modes.get(from)];
      if (key === null || !startsIn(targets[0]!)) continue;
      if (this.#frozen.has(from)) this.#frozen.add(key);
      if (mode?.evaluates && !mode.trains && !modes.has(key)) modes.set(key, mode);
    }
    // An adapter is added to a frozen base, which is then put into training mode.
    for (const [key, mode] of modes)
      if (mode.trains) {
        if (this.#frozen.delete(key) && mode.always !== true && plainly.has(key)) this.#unasked.add(key);
      } else if (mode.evaluates && !this.#frozen.has(key)) this.#evaluating.add(key);
  }

  /** Every call that may be one of a network or a loss. */
  get calls(): readonly Call[] {
    return this.#used.size > 0 ? this.#file.all("Call") : this.#file.calls.matching(CALLED);
  }

  is(callee: Expr): boolean {
    let known = this.#answers.get(callee);
    if (known === undefined) {
      // Names may be bound to each other.
      this.#answers.set(callee, false);
      this.#answers.set(callee, (known = this.#isNetwork(callee)));
    }
    return known;
  }

  #isNetwork(callee: Expr): boolean {
    if (this.#file.dotted(callee) !== null) return callee.kind === "Name" && this.#imported.has(callee.id);
    if (callee.kind === "Subscript")
      // `models[0]`; of one that is a sequence, `model[0]` is a layer.
      return callee.index.kind === "Num"
        ? SEVERAL.test(lastWord(callee.value))
        : callee.index.kind === "Str" && isSeveral(callee.value);
    const key = this.key(callee);
    if (key === null) return false;
    if (this.#used.has(key)) return true;
    if (callee.kind === "Name") {
      if (this.#isSelf(callee)) return true;
      return (
        (NETWORK_NAME.test(callee.id) || LETTER.test(callee.id) || SHORT.test(callee.id)) &&
        !NOT_A_NETWORK.test(callee.id) &&
        !DEED.test(callee.id) &&
        !isLossName(callee.id) &&
        (this.#file.scopes.lookup(callee)?.definitions.every(
          ({ how, value }) =>
            how === "param" ||
            how === "unpack" ||
            how === "delete" ||
            value?.kind === "Call" ||
            // `parallel_model = model`, on one device
            (how === "assign" && value?.kind === "Name" && this.is(value)) ||
            // `model.module if ddp else model`
            (value?.kind === "IfExp" && value.body.kind !== "Const" && value.orelse.kind !== "Const") ||
            (value?.kind === "Attribute" && (value.attr === "module" || NETWORK_NAME.test(value.attr))) ||
            // `model = state["model"]`, `student = module_list[0]`
            (value?.kind === "Subscript" &&
              (value.index.kind === "Str"
                ? NETWORK_NAME.test(value.index.value ?? "")
                : (value.index.kind === "Num" || value.index.kind === "Unary") && isSeveral(value.value))),
        ) ??
          false)
      );
    }
    return (
      callee.kind === "Attribute" &&
      (NETWORK_NAME.test(callee.attr) || SHORT.test(callee.attr)) &&
      !NOT_A_NETWORK.test(callee.attr) &&
      !DEED.test(callee.attr) &&
      !isLossName(callee.attr) &&
      !isMethod(callee)
    );
  }

  /** A parameter for which each call of its function, in this file, gives what is used as networks are. */
  isHanded(name: Expr): boolean {
    if (this.#used.size === 0 || name.kind !== "Name") return false;
    const [made, ...more] = this.#file.scopes.reaching(name);
    if (made?.how !== "param" || more.length > 0) return false;
    let handed = this.#handed.get(made);
    if (handed === undefined) {
      // Functions may hand it to each other.
      this.#handed.set(made, false);
      const given = handedIn(made, this.#file, true);
      const isUsed = (one: Expr): boolean =>
        (one.kind === "Name" || selfAttribute(one) !== null) &&
        (this.#used.has(this.key(one)) || this.isHanded(one));
      handed = given.length > 0 && given.every(isUsed);
      this.#handed.set(made, handed);
    }
    return handed;
  }

  /** Known not to train: frozen by flags, or only ever in eval mode. */
  isFrozen(callee: Expr): boolean {
    if (this.#frozen.size + this.#evaluating.size === 0) return false;
    const key = this.key(callee);
    if (key !== null && (this.#frozen.has(key) || this.#evaluating.has(key))) return true;
    return isPartOf(callee) && this.isFrozen(callee.value);
  }

  get someOnlyEvaluated(): boolean {
    return this.#evaluating.size > 0;
  }

  /** Only ever in eval mode, and not frozen by flags: its parameters still require gradients. */
  isOnlyEvaluated(callee: Expr): boolean {
    if (this.#evaluating.size === 0) return false;
    const key = this.key(callee);
    return key !== null && this.#evaluating.has(key);
  }

  isFrozenByFlags(callee: Expr): boolean {
    if (this.#frozen.size === 0) return false;
    const key = this.key(callee);
    if (key !== null && this.#frozen.has(key)) return true;
    return isPartOf(callee) && this.isFrozenByFlags(callee.value);
  }

  /** Frozen by flags, and trained only by an option that is off by default: `if args.train_encoder: encoder.train()`. */
  isFrozenUnlessAsked(callee: Expr): boolean {
    return this.#unasked.size > 0 && this.#unasked.has(this.key(callee));
  }

  /** Called like a loss, as a criterion that is handed in or made elsewhere is, or made by a class of losses here. */
  isLoss(callee: Expr): boolean {
    if (this.#file.dotted(callee) !== null) return false;
    this.#losses ??= this.#madeLosses();
    if (this.#losses.size > 0 && this.#losses.has(this.key(callee))) return true;
    const name =
      callee.kind === "Name"
        ? callee.id
        : callee.kind === "Attribute" && selfAttribute(callee) !== null
          ? callee.attr
          : "";
    return isLossName(name) && !DEED.test(name);
  }

  /** `mse = nn.MSELoss().to(device)` */
  #madeLosses(): Set<unknown> {
    const made = new Set<unknown>();
    for (const call of this.#file.calls.matching(MAKES_LOSS)) {
      const statement = statementOf(call);
      if (statement?.kind !== "Assign" || moved(statement.value) !== call) continue;
      const key = this.key(statement.targets[0]!);
      if (key !== null) made.add(key);
    }
    return made;
  }

  /** The same for every mention of one variable, or of one attribute in a class. */
  key(expr: Expr): unknown {
    if (expr.kind === "Name") return this.#file.scopes.lookup(expr)?.definitions[0] ?? null;
    if (expr.kind === "Attribute" && expr.value.kind === "Name" && expr.value.id === "self") {
      const cls = classOf(expr);
      return cls ? `${cls.start}.${expr.attr}` : null;
    }
    // `model.module` is the model inside its wrapper.
    if (expr.kind === "Attribute" && expr.attr === "module") return this.key(expr.value);
    // `state.net`, of an object that is handed around; settings hold names and factories of networks.
    if (expr.kind === "Attribute" && expr.value.kind === "Name" && !SETTINGS.test(expr.value.id)) {
      const owner = this.#file.scopes.lookup(expr.value)?.definitions[0];
      return owner && this.#file.dotted(expr.value) === null ? `@${owner.node.start}.${expr.attr}` : null;
    }
    return null;
  }

  #isPart(call: Call): boolean {
    const cls = classOf(call);
    if (!cls || !this.#isModule(cls)) return false;
    const fn = functionOf(call);
    return fn?.kind !== "FunctionDef" || !(fn.name === "train" || STARTS.test(fn.name));
  }

  #isSelf(name: Expr & { kind: "Name" }): boolean {
    const cls = classOf(name);
    return cls !== null && name.id === "self" && this.#isModule(cls);
  }
}

/** What modules are made of, by the last word of their class. */
const LAYERS =
  /(?:Conv(?:olution)?|Linear|Block|Layer|Norm|Net|Network|Embed(?:ding)?|Encoding|Attention|Encoder|Decoder|Dropout|MLP|Mlp|Pool(?:ing)?|Transformer|R?NN|LSTM|GRU|Cell|Head|Projection|Projector|FFN|FeedForward|Backbone|Stem|Generator|Discriminator|Bottleneck|Upsample|Downsample)s?(?:_?[1-4][dD])?$/;
/** Encoders of labels and decoders of texts. */
const NO_LAYERS = /^sklearn\.|Label|OneHot|Ordinal|Text|Token|CTC|Greedy|Beam|Viterbi|Json|JSON/;

export function isLayerName(dotted: string | null): boolean {
  return dotted !== null && /^[A-Z]/.test(last(dotted)) && LAYERS.test(dotted) && !NO_LAYERS.test(dotted);
}

function isSeveral(expr: Expr): boolean {
  // `state["models"]["encoder"]`, `model["generator"]`
  if (expr.kind === "Subscript") return expr.index.kind === "Str" && SEVERAL.test(expr.index.value ?? "");
  return SEVERAL.test(lastWord(expr)) || /^(?:model|net|network)$/.test(lastWord(expr));
}

/** `self.pick_action_and_get_critic_values(…)`: a method of the class around it, no attribute. */
function isMethod(callee: Expr): boolean {
  const own = selfAttribute(callee);
  return (
    own !== null &&
    (classOf(callee)?.body.some(
      (one) => one.kind === "FunctionDef" && one.name === own && one.decorators.length === 0,
    ) ??
      false)
  );
}

/** `reference.decoder`: what is frozen as a whole is so in its parts. */
function isPartOf(expr: Expr): expr is Attribute {
  return (
    expr.kind === "Attribute" &&
    !/^(?:to|cuda|cpu|half|float|bfloat16|state_dict|load_state_dict|apply|modules|children|zero_grad)$/.test(
      expr.attr,
    ) &&
    !NETWORK_METHODS.has(expr.attr) &&
    (expr.value.kind === "Attribute" || (expr.value.kind === "Name" && expr.value.id !== "self"))
  );
}

/** `net` of `net.cuda()`, which is what `net.cuda().eval()` is called on. */
export function moved(expr: Expr): Expr {
  let at = expr;
  while (
    at.kind === "Call" &&
    at.func.kind === "Attribute" &&
    /^(?:to|cuda|cpu|half|float|bfloat16|train|eval)$/.test(at.func.attr)
  )
    at = at.func.value;
  return at;
}

/** `load().eval()` of `teacher = make_teacher()`, where a function of this file returns that and nothing else. */
function madeAs(call: Call, file: PythonFile): Call {
  const name = call.func.kind === "Name" ? file.dotted(call.func) : null;
  const [one, ...more] = (name === null ? undefined : file.once(returnsByName).get(name)) ?? [];
  return one?.kind === "Call" && more.length === 0 ? one : call;
}

/** The methods of a chain of calls: `load().to(device).eval()` gives to and eval. */
function calledOn(call: Call): string[] {
  const found: string[] = [];
  let at: Expr = call;
  while (at.kind === "Call" && at.func.kind === "Attribute") {
    found.push(at.func.attr);
    at = at.func.value;
  }
  return found;
}

/** `model.parameters()` handed to an optimizer, or clipped. */
function trains(call: Call, file: PythonFile): boolean {
  for (const at of ancestors(call)) {
    if (at.kind === "Call" && at !== call && at.func !== call.func)
      return /optim|adam|sgd|lion|rmsprop|adafactor|clip_grad/i.test(file.textOf(at.func).slice(-60));
    if (at.kind === "Assign" || at.kind === "ExprStmt" || at.kind === "Return") {
      // `params = [p for p in model.parameters() if p.requires_grad]` is for an optimizer.
      let asks = false;
      walk(at, (node) => {
        if (node.kind === "Attribute" && node.attr === "requires_grad") asks = true;
        return !asks;
      });
      return asks;
    }
  }
  return false;
}

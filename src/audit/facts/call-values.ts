import { argument, isOfStar, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { isLeftOnHost } from "./accelerator.ts";
import { isData } from "./sent-data.ts";
import { attributesOf, isModuleDict, isModuleRole, selfAttribute } from "./classes.ts";
import {
  FACTORIES,
  FUNCTIONS,
  GRAPHLESS,
  LIKE_FACTORIES,
  METHODS,
  OF_DISTRIBUTIONS,
  TENSOR_ONLY_METHODS,
  TUPLE_RESULTS,
  VARIABLE,
  last,
  makesTransform,
  transformsTensors,
} from "./torch-names.ts";
import { engineSteps } from "./training.ts";
import { sendsBatch } from "./transfers.ts";
import {
  MODULE,
  NUMBER,
  OTHER,
  UNKNOWN,
  combineOperands,
  either,
  isOnDevice,
  isTensorLike,
  plain,
} from "./value.ts";
import type { Device, Value } from "./value.ts";
import type { Around, Values } from "./values.ts";

/** Methods of modules that return them. */
const MODULE_METHODS = new Set("to cuda cpu eval train half bfloat16 float requires_grad_ apply".split(" "));

/** Methods of networks that tell of results, or write them down. */
const TELLS =
  /metric|accura|score|count|size|len|num|text|string|token|generat|test|valid|plot|log|save|load|print|summar|state|step|name|key|hook|param|module|eval$|train$/i;

/** Methods by which networks learn from a batch: most hand back the numbers to be shown. */
const LEARNS = /^(?:train|learn|update|optimi[sz]e|fit)/;

/** Methods that run the network they are of, and parts of it. */
const RUNS =
  /^(?:encoder|decoder|backbone|trunk|projector|predictor|classifier|forward|forward_\w+|noise_pred|calculate_(?:q|quantiles|state_embeddings|features|logits)|encode|decode|encode_\w+|decode_\w+|project|classify|embed|lm_head|extract_features?|get_\w*(?:features|embeddings?|logits)|reconstruct|training_losses|evaluate_actions|get_value|get_action\w*)$/;

/** Methods of others that run the network they are given first. */
const GIVEN = /^(?:training_loss(?:es)?|train_loss|compute_loss(?:es)?|loss_fn|p_losses)$/;

/** Modules of torch that people make by themselves, to measure with. */
const PARAMETERLESS = new Set(["CosineSimilarity", "PairwiseDistance", "Softmax", "LogSoftmax", "Sigmoid"]);

/** Functions of torch that make one tensor of a list of them. */
const JOINS = new Set(["cat", "concat", "stack", "hstack", "vstack"]);

/** Of `torch.linalg`, what gives several tensors. */
const DECOMPOSES = /^(?:svd|eigh?|qr|lu|slogdet|lstsq|cholesky_ex|inv_ex|ldl_factor)$/;

/** Methods that put one more into a list. */
const FILLS = new Set(["append", "appendleft", "insert"]);

/** What torch calls its layers. */
const LAYER = /^torch\.nn\.(?:\w+\.)*[A-Z]/;

/** Methods that bring together what all ranks have. */
const GATHERS: ReadonlySet<string> = new Set(["gather", "gather_for_metrics", "reduce"]);

/** What torch and its packages call distributions. */
const DISTRIBUTION = /^torch\.distributions\.(?:\w+\.)?[A-Z]\w*$/;

/** What calls return: of networks and losses, of torch and other libraries, of a tensor's methods. */
export class CallValues {
  readonly #file: PythonFile;
  readonly #around: Around;
  readonly #values: Values;

  constructor(file: PythonFile, around: Around, values: Values) {
    this.#file = file;
    this.#around = around;
    this.#values = values;
  }

  of(call: Call): Value {
    const value = this.#called(call);
    if (value.what !== "unknown") return value;
    return sendsBatch(call, this.#file)
      ? { what: "output", device: "network", graph: "no" }
      : this.handedLoss(call, "");
  }

  #called(call: Call): Value {
    const name = this.#file.dotted(call.func);
    if (name !== null) return this.#namedCall(call, name);
    if (call.func.kind === "Attribute") {
      const method = this.#method(call, call.func.value, call.func.attr);
      if (method) return method;
    }
    // `to = lambda a: torch.as_tensor(a).to(device)`
    const lambda = call.func.kind === "Name" ? this.#file.scopes.onlyValue(call.func) : null;
    if (lambda?.kind === "Lambda") return this.#values.of(lambda.body);
    // `to_torch = partial(torch.tensor, dtype=torch.float32)`
    const bound =
      lambda?.kind === "Call" && this.#file.dotted(lambda.func) === "functools.partial"
        ? positional(lambda, 0)
        : null;
    const factory = bound ? (this.#file.dotted(bound) ?? "") : "";
    if (factory.startsWith("torch.") && FACTORIES.has(last(factory)) && factory === `torch.${last(factory)}`)
      return { what: "tensor", device: this.#factoryDevice(lambda as Call), graph: "no" };
    const callee = this.#values.of(call.func);
    if (callee.what !== "module" && !this.#values.networks.is(call.func)) {
      const tensors = this.#values.networks.isLoss(call.func)
        ? this.#compared(call).filter(({ what }) => what === "tensor" || what === "output")
        : [];
      if (tensors.length > 0) return this.#loss(call, tensors);
      // `self.mel = MelSpectrogram(…)`: of a tensor it makes another, where that one is.
      if (makesTransform(this.#madeBy(call.func) ?? "")) return this.#transformed(call);
      // A method of the class itself.
      return selfAttribute(call.func) === null ? UNKNOWN : this.#ofMethod(call);
    }
    const made = this.#madeBy(call.func);
    // A loss has no parameters: its result has a graph exactly when an operand has.
    if (made !== null && (made.endsWith("Loss") || PARAMETERLESS.has(last(made)))) {
      const operands: Value[] = [...this.#compared(call), { what: "tensor", device: "unknown", graph: "no" }];
      return made.startsWith("torch.") ? this.#values.computed(call, operands) : this.#loss(call, operands);
    }
    return this.#output(call, call.func);
  }

  /** What a method of a module makes of tensors that are where the module is, is there too. */
  #ofMethod(call: Call): Value {
    const value = this.#values.returned(call, null);
    if (!isTensorLike(value) || value.device !== "unknown") return value;
    const cls = classOf(call);
    return cls &&
      isModuleRole(this.#around.role(cls)) &&
      this.#operands(call).some(({ device }) => device === "network")
      ? { ...value, device: "network" }
      : value;
  }

  #loss(call: Call, operands: readonly Value[]): Value {
    const value = this.#values.computed(call, operands);
    return this.#around.hostLoss ? { ...value, device: "cpu" } : value;
  }

  #operands(call: Call): Value[] {
    return call.args.map((arg) => this.#values.of(arg.value));
  }

  /** What a loss is computed from; lengths, as of a CTC loss, may be on the host while the rest is not. */
  #compared(call: Call): readonly Value[] {
    // `loss_fn((mel, pitch), (mel_out, pitch_out))`
    const all = call.args.flatMap(({ value }) =>
      value.kind === "Tuple" ? value.items.map((item) => this.#values.of(item)) : [this.#values.of(value)],
    );
    return all.length > 2 && isOnDevice(all[0]!)
      ? all.filter(({ device }, at) => at < 2 || device !== "cpu")
      : all;
  }

  /** What a network, or a method that runs it, returns. */
  #output(call: Call, network: Expr): Value {
    const mode = this.#around.gradMode(call);
    const graph =
      mode === "off" ? "no" : mode === "on" && !this.#values.networks.isFrozen(network) ? "yes" : "unknown";
    const onHost =
      this.#isFedHost(call, network) || (network.kind === "Name" && isLeftOnHost(network, this.#file));
    return { what: "output", device: onHost ? "cpu" : "network", graph };
  }

  /** Given tensors of the host alone, it runs there, or fails on a device. */
  #isFedHost(call: Call, network: Expr): boolean {
    return (
      // A module's layers are given what the module was given.
      network.kind === "Name" &&
      call.args.length > 0 &&
      this.#operands(call).every(({ what, device }) => what === "tensor" && device === "cpu")
    );
  }

  /** The qualified class name of a module made in this file, for `self.x` and names. */
  #madeBy(expr: Expr): string | null {
    let made: Expr | null = null;
    if (expr.kind === "Name") {
      const definitions = this.#file.scopes.reaching(expr);
      made = definitions.length === 1 ? definitions[0]!.value : null;
    } else {
      const own = selfAttribute(expr);
      const cls = own === null ? null : classOf(expr);
      made = (cls && attributesOf(cls, this.#file).get(own!)?.writes[0]?.value) ?? null;
    }
    if (
      made?.kind === "Call" &&
      made.func.kind === "Attribute" &&
      (made.func.attr === "to" || made.func.attr === "cuda")
    )
      made = made.func.value;
    return made?.kind === "Call" ? this.#file.dotted(made.func) : null;
  }

  /** Of tensors with settings among them, which say nothing of history. */
  #transformed(call: Call): Value {
    return this.#values.computed(
      call,
      this.#operands(call).filter((operand, at) => at === 0 || isTensorLike(operand)),
    );
  }

  /** A distribution that is made of tensors, or that a network handed back: what is computed of it has the graph of these. */
  #distribution(expr: Expr, depth = 0): Value {
    const made = expr.kind === "Name" ? this.#file.scopes.onlyValue(expr) : expr;
    if (made?.kind !== "Call" || depth > 3 || !DISTRIBUTION.test(this.#file.dotted(made.func) ?? ""))
      return this.#values.of(expr);
    return combineOperands(
      made.args
        .filter(({ name }) => name !== "validate_args")
        .map(({ value }) => this.#distribution(value, depth + 1)),
    );
  }

  /** `kl_divergence(posterior, prior)`: where one is unknown, the other says where it is only by a graph of its own. */
  #divergence(call: Call): Value {
    const both = call.args.map(({ value }) => this.#distribution(value));
    return both.some(({ graph }) => graph === "yes") || both.every(({ what }) => what !== "unknown")
      ? this.#values.computed(call, both)
      : UNKNOWN;
  }

  /** `sum(p.grad.norm() for p in …)`, `sum(losses.values())`, `sum(losses)` of a list that was filled: a tensor as soon as one is added. */
  #summed(all: Expr): Value {
    const one = all.kind === "Comp" ? this.#values.of(all.element) : this.#values.element(all, null);
    if (one.what === "tensor") return one;
    // Of the losses that a network handed back by name.
    const over = all.kind === "Comp" ? (all.clauses[0]?.iter ?? all) : all;
    if (/loss/i.test(this.#file.textOf(over))) {
      const held = one.what === "output" ? one : this.#heldIn(over);
      if (held.what === "output" || held.what === "tensor") return { ...held, what: "tensor" };
    }
    const filled = all.kind === "Name" ? this.#filled(all) : [];
    return filled.length > 0 && filled.every(({ what }) => what === "tensor")
      ? combineOperands(filled)
      : UNKNOWN;
  }

  /** What `losses.values()` hands out one by one. */
  #heldIn(expr: Expr): Value {
    if (expr.kind !== "Call" || expr.func.kind !== "Attribute" || expr.func.attr !== "values") return UNKNOWN;
    const { value } = expr.func;
    const made = value.kind === "Name" ? this.#file.scopes.onlyValue(value) : value;
    const held = this.#values.of(made?.kind === "Comp" && made.value ? made.value : value);
    if (held.what === "output" || made?.kind !== "Call" || !this.#around.guesses) return held;
    // `reduced = reduce_dict(losses)` has as many of them.
    return this.#operands(made).find(({ what }) => what === "output") ?? held;
  }

  #namedCall(call: Call, name: string): Value {
    if (name.startsWith("builtins.")) {
      const builtin = last(name);
      if (
        builtin === "float" ||
        builtin === "int" ||
        builtin === "len" ||
        builtin === "round" ||
        builtin === "bool" ||
        builtin === "id"
      )
        return NUMBER;
      if (builtin === "str" || builtin === "repr") return plain("string");
      if (
        builtin === "list" ||
        builtin === "tuple" ||
        builtin === "dict" ||
        builtin === "set" ||
        builtin === "range" ||
        builtin === "sorted"
      )
        return plain("container");
      if (builtin === "sum" && call.args[0]) return this.#summed(call.args[0].value);
      if (builtin === "abs") return call.args[0] ? this.#values.of(call.args[0].value) : UNKNOWN;
      // `min(loss, 20)` may be either: a tensor as far as it matters.
      if ((builtin === "max" || builtin === "min") && call.args.length > 1)
        return combineOperands(call.args.map((arg) => this.#values.of(arg.value)));
      // `x, y = map(lambda t: t.to(device), batch)`
      const each = builtin === "map" ? call.args[0]?.value : null;
      // `x, y = map(Variable, (x, y))`
      const all = call.args[1]?.value;
      if (each && all?.kind === "Tuple" && VARIABLE.test(this.#file.dotted(each) ?? ""))
        return { ...combineOperands(all.items.map((item) => this.#values.of(item))), what: "output" };
      if (each?.kind === "Lambda" && each.body.kind === "Call" && each.body.func.kind === "Attribute") {
        const moved = each.body;
        const device =
          each.body.func.attr === "cuda"
            ? "accelerator"
            : each.body.func.attr === "to"
              ? this.#values.device(argument(moved, "device", 0))
              : "unknown";
        if (device !== "unknown") return { what: "output", device, graph: "no" };
      }
      // `psnr(out, target)` after `from metrics import *`
      return call.func.kind === "Name" && isOfStar(call.func, this.#file)
        ? this.#ofElsewhere(call, name)
        : UNKNOWN;
    }
    if (
      name.startsWith("math.") ||
      name.startsWith("time.") ||
      name.startsWith("os.") ||
      name.startsWith("random.")
    )
      return NUMBER;
    if (name.startsWith("numpy.")) return OTHER;
    if (name === "copy.deepcopy") {
      const source = call.args[0] ? this.#values.of(call.args[0].value) : UNKNOWN;
      return source.what === "module" ? MODULE : UNKNOWN;
    }
    if (!name.startsWith("torch.")) {
      if (transformsTensors(name)) return this.#transformed(call);
      if (makesNetwork(name, this.#around)) return MODULE;
      return name.startsWith(`${this.#file.module}.`)
        ? this.#values.returned(call, null)
        : this.#ofElsewhere(call, name);
    }
    if (name === "torch.hub.load") return isOfHub(call) ? MODULE : UNKNOWN;
    const short = last(name);
    const inTorch = name.length === short.length + "torch.".length;
    // `torch.FloatTensor(array)` too.
    if (inTorch && (FACTORIES.has(short) || short.endsWith("Tensor")))
      return {
        what: "tensor",
        device: this.#factoryDevice(call),
        graph: isTrue(keyword(call, "requires_grad")?.value ?? null) ? "yes" : "no",
      };
    // Most of what a module makes of itself: what these are given says nothing.
    if (LAYER.test(name) && short !== "Parameter") return MODULE;
    const operands = this.#operands(call);
    if (inTorch) {
      if (LIKE_FACTORIES.has(short))
        return { what: "tensor", device: operands[0]?.device ?? "unknown", graph: "no" };
      if (FUNCTIONS.has(short)) {
        const list = positional(call, 0);
        const written = list?.kind === "List" || list?.kind === "Tuple";
        const filled =
          list && !written && operands[0] && JOINS.has(short) && !isTensorLike(operands[0])
            ? this.#filled(list)
            : null;
        const items = written
          ? list.items.map((item) => this.#values.of(item))
          : filled
            ? [operands[0]!, ...filled.filter(({ graph }) => graph === "yes")]
            : operands;
        // A list is nowhere, and neither is the text of `einsum` or the number of `pow(2, x)`: what is made is where the tensors are.
        const device = filled ? commonDevice(filled) : (items.find(isPlaced)?.device ?? "unknown");
        const value = this.#values.computed(call, [...items, { what: "tensor", device, graph: "no" }]);
        const graph = GRAPHLESS.has(short)
          ? "no"
          : items.some((item) => item.what === "container") &&
              value.graph !== "yes" &&
              this.#around.gradMode(call) !== "off"
            ? "unknown"
            : value.graph;
        return TUPLE_RESULTS.has(short) && !this.#isOfWhole(short, call)
          ? { ...value, what: "output", graph }
          : { ...value, graph };
      }
    }
    if (/^torch\.(?:fft|linalg|special)\./.test(name)) {
      const value = this.#values.computed(call, [
        ...operands,
        { what: "tensor", device: operands[0]?.device ?? "unknown", graph: "no" },
      ]);
      return DECOMPOSES.test(short) ? { ...value, what: "output" } : value;
    }
    const typed = /^torch\.(cuda\.)?(?:Float|Double|Half|BFloat16|Long|Int|Short|Byte|Bool)?Tensor$/.exec(
      name,
    );
    if (typed) return { what: "tensor", device: typed[1] ? "accelerator" : "cpu", graph: "no" };
    if (name.startsWith("torch.nn.functional."))
      return this.#values.computed(call, [
        ...(short.endsWith("_loss") ? this.#compared(call) : operands),
        { what: "tensor", device: operands[0]?.device ?? "unknown", graph: "no" },
      ]);
    if (VARIABLE.test(name)) return operands[0] ?? UNKNOWN;
    if (short === "kl_divergence") return this.#divergence(call);
    if (name === "torch.autograd.grad")
      return {
        what: "output",
        device: "network",
        graph: isTrue(keyword(call, "create_graph")?.value ?? null) ? "yes" : "no",
      };
    if (/^torch\.nn\.utils\.rnn\.(?:pack|pad)_\w*sequence$/.test(name) && operands[0])
      return { ...this.#values.computed(call, [operands[0]]), what: "output" };
    if (name === "torch.nn.parallel.data_parallel" && call.args[0])
      return this.#output(call, call.args[0].value);
    if (name === "torch.nn.Parameter" || name === "torch.nn.parameter.Parameter") {
      // A module's own goes where the module goes.
      const cls = classOf(call);
      const moves = cls !== null && isModuleRole(this.#around.role(cls));
      return { what: "tensor", device: moves ? "network" : (operands[0]?.device ?? "unknown"), graph: "no" };
    }
    if (
      LAYER.test(name) ||
      /^torch\.distributed\.fsdp\.(?:\w+\.)*FullyShardedDataParallel$/.test(name) ||
      name === "torch.compile"
    )
      return MODULE;
    if (/^torch\.nn\.utils\.(?:clip_grad\.)?(?:clip_grad_norm_|get_total_norm)$/.test(name))
      return { what: "tensor", device: "network", graph: "no" };
    if (/^torch\.optim\.(?:\w+\.)*[A-Z]/.test(name) && !name.includes("lr_scheduler"))
      return plain("optimizer");
    return UNKNOWN;
  }

  /** One tensor, or several at once: `accelerator.gather({"loss": loss, "hits": hits})` hands back as many. */
  #gathered(given: Expr): Value {
    const items =
      given.kind === "Dict"
        ? given.values
        : given.kind === "Tuple" || given.kind === "List"
          ? given.items
          : null;
    return items ? { ...this.#values.alike(items), what: "output" } : this.#values.of(given);
  }

  #method(call: Call, receiver: Expr, attr: string): Value | null {
    const value = this.#values.of(receiver);
    const isTensor = value.what === "tensor" || value.what === "output" || TENSOR_ONLY_METHODS.has(attr);
    if (attr === "item") return NUMBER;
    // `accelerator.gather(loss.detach())`: of all ranks, on the device.
    const gathered =
      GATHERS.has(attr) && /accel/i.test(lastWord(receiver)) && call.args[0]
        ? this.#gathered(call.args[0].value)
        : UNKNOWN;
    // Several ranks' come without a graph; alone on a device it is handed back as it is.
    if (isTensorLike(gathered)) return this.#around.guesses ? gathered : { ...gathered, graph: "no" };
    // `accelerator.clip_grad_norm_(model.parameters(), 1.0)`, `sharded.clip_grad_norm_(1.0)`: the norm, as torch's own gives it.
    if (
      ((attr === "clip_grad_norm_" || attr === "clip_gradients") &&
        /accel|fabric/i.test(lastWord(receiver))) ||
      (attr === "clip_grad_norm_" && (value.what === "module" || this.#values.networks.is(receiver)))
    )
      return { what: "tensor", device: "network", graph: "no" };
    // `loss = engine.step(batch)`
    if (value.what === "unknown" && this.#file.once(engineSteps).includes(call))
      return { what: "tensor", device: "network", graph: "unknown" };
    if (RUNS.test(attr) && (value.what === "module" || this.#values.networks.is(receiver)))
      return this.#output(call, receiver);
    // `diffusion.training_losses(model, x, t)` runs the network it is given.
    const first = positional(call, 0);
    if (
      GIVEN.test(attr) &&
      (first?.kind === "Name" || first?.kind === "Attribute") &&
      this.#values.networks.is(first)
    )
      return this.#output(call, first);
    if (value.what === "module" && isModuleDict(receiver, this.#file)) return null;
    // `self.policy.evaluate(states, actions)`: what a network is given on the device, it computes with there.
    if (
      call.args.length > 0 &&
      !(receiver.kind === "Name" && receiver.id === "self") &&
      (value.what === "module" || (value.what === "unknown" && this.#values.networks.is(receiver))) &&
      !MODULE_METHODS.has(attr) &&
      !TELLS.test(attr)
    ) {
      const own = this.ranElsewhere(call, null);
      if (own.what !== "unknown") return own;
      const given = this.#operands(call);
      if (given.some(isOnDevice) && !LEARNS.test(attr))
        return { what: "output", device: "network", graph: "unknown" };
      // `model.loss(embeddings.cpu())`
      if (given.every(({ device, graph }) => device === "cpu" && graph === "yes"))
        return { what: "output", device: "cpu", graph: "unknown" };
    }
    if (value.what === "module") return MODULE_METHODS.has(attr) ? value : UNKNOWN;
    // `Categorical(logits=logits).log_prob(actions)`
    if (value.what === "unknown" && OF_DISTRIBUTIONS.has(attr) && receiver.kind !== "Attribute") {
      const made = this.#distribution(receiver);
      return isTensorLike(made) ? this.#values.computed(call, [made, ...this.#operands(call)]) : null;
    }
    if (!isTensor && attr !== "cpu" && attr !== "cuda" && attr !== "to") return null;
    if (attr === "detach" || attr === "detach_") return { what: "tensor", device: value.device, graph: "no" };
    if (attr === "tolist") return plain("container");
    if (
      attr === "numpy" ||
      attr === "size" ||
      attr === "dim" ||
      attr === "numel" ||
      attr === "element_size" ||
      attr === "data_ptr" ||
      attr === "backward" ||
      // `x.type()` tells which it is.
      (attr === "type" && call.args.length === 0)
    )
      return OTHER;
    const known = value.what === "tensor" || value.what === "output";
    if (attr === "cpu") return known ? { ...value, what: "tensor", device: "cpu" } : null;
    if (attr === "cuda")
      return known
        ? { ...value, device: "accelerator" }
        : isData(receiver, this.#file)
          ? { what: "tensor", device: "accelerator", graph: "no" }
          : null;
    if (attr === "to" && (known || isData(receiver, this.#file))) {
      const given = argument(call, "device", 0);
      const device = this.#values.device(given);
      // `.to(torch.float16)` stays where it is.
      const isType =
        given !== null && /^torch\.|^builtins\.(?:bool|int|float)$/.test(this.#file.dotted(given) ?? "");
      if (known) return { ...value, device: isType ? value.device : device };
      return device === "unknown" || isType ? UNKNOWN : { what: "output", device, graph: "no" };
    }
    if (attr.startsWith("new_")) return { what: "tensor", device: value.device, graph: "no" };
    // `vae.encode(x).latent_dist.sample()`
    if (value.what === "output" && /^(?:sample|rsample|mode)$/.test(attr) && call.args.length === 0)
      return value;
    // `actor.pi(states).log_prob(actions)`, of the distribution that it returns.
    if (value.what === "output" && /^(?:log_prob|entropy)$/.test(attr)) return { ...value, what: "tensor" };
    if (known && METHODS.has(attr)) {
      const others = call.args
        .map((arg) => this.#values.of(arg.value))
        .filter((operand) => operand.what === "tensor");
      const result = this.#values.computed(call, [value, ...others]);
      const several =
        /^(?:chunk|split|unbind|tensor_split|topk|sort)$/.test(attr) ||
        (/^(?:max|min|median|mode|kthvalue)$/.test(attr) &&
          call.args.some(
            (arg) => arg.name === "dim" || arg.value.kind === "Num" || arg.value.kind === "Unary",
          ));
      const whole = several ? { ...result, what: "output" as const } : result;
      return GRAPHLESS.has(attr) ? { ...whole, graph: "no" } : whole;
    }
    return attr.startsWith("_") || known
      ? UNKNOWN
      : TENSOR_ONLY_METHODS.has(attr)
        ? { what: "tensor", device: value.device, graph: value.graph }
        : UNKNOWN;
  }

  /** `torch.max(x)` and `torch.max(x, y)`: one tensor; along a dimension there are its places beside it. */
  #isOfWhole(short: string, { args: [, other, ...more] }: Call): boolean {
    return (
      /^(?:max|min|median)$/.test(short) &&
      more.length === 0 &&
      (!other || (other.name === null && this.#values.of(other.value).what === "tensor"))
    );
  }

  /** What a list of this function is filled with: `for t in steps: states.append(cell(x[t]))`, `[cell(x) for x in xs]`. */
  #filled(list: Expr): Value[] {
    if (list.kind === "Comp") return list.value === null ? [this.#values.of(list.element)] : [];
    if (list.kind !== "Name") return [];
    const { scopes } = this.#file;
    const [one, ...more] = scopes.reaching(list);
    const made = one?.value?.kind === "Tuple" && one.index !== null ? one.value.items[one.index] : one?.value;
    if (!one || more.length > 0) return [];
    if (made?.kind === "Comp") return this.#filled(made);
    if (made?.kind !== "List") return [];
    return scopes.uses(one).flatMap(({ parent }) => {
      const method = parent?.kind === "Attribute" && FILLS.has(parent.attr) ? parent : null;
      const call = method?.parent;
      const added =
        call?.kind === "Call" && call.args.length === (method!.attr === "insert" ? 2 : 1)
          ? this.#values.of(call.args.at(-1)!.value)
          : null;
      return added ? [added] : [];
    });
  }

  /** `reduce_mean(loss, world_size)` of another file: the loss, where it was. */
  #reduced(call: Call, name: string): Value {
    const handed = this.#around.reduced(call, name);
    const value = handed ? this.#values.of(handed.given) : UNKNOWN;
    if (!handed || !isTensorLike(value)) return UNKNOWN;
    if (handed.shaped) return value;
    return {
      what: handed.each ? "output" : value.what,
      device: value.device,
      graph: value.graph === "no" ? "no" : "unknown",
    };
  }

  #ofElsewhere(call: Call, name: string): Value {
    const value = this.#reduced(call, name);
    return value.what === "unknown" ? this.ranElsewhere(call, null) : value;
  }

  /** `out = forward_pass(net, x)` of another file: what the network computed, or a loss of it. */
  ranElsewhere(call: Call, index: number | null): Value {
    const network = this.#around.ran(call, index);
    return network && (this.#values.networks.is(network) || this.#values.of(network).what === "module")
      ? this.#output(call, network)
      : this.handedLoss(call, index ?? "");
  }

  /** `loss = agent.update(batch)` of another file, which has differentiated it. */
  handedLoss(call: Call, key: number | string): Value {
    const graph = this.#around.loss(call, key);
    return graph === null ? UNKNOWN : { what: "tensor", device: "network", graph };
  }

  #factoryDevice(call: Call): Device {
    const given = keyword(call, "device");
    if (!given)
      return this.#file.callsNamed("set_default_device", "set_default_tensor_type").length > 0 ||
        call.args.some((arg) => arg.star === 2)
        ? "unknown"
        : "cpu";
    return this.#values.device(given.value);
  }
}

/** Whatever is no text and no number. */
function isPlaced({ what }: Value): boolean {
  return what !== "string" && what !== "number";
}

/** Where all of these tensors are; unknown where they differ, or one is none that is known. */
function commonDevice(values: readonly Value[]): Device {
  if (values.length === 0 || !values.every(isTensorLike)) return "unknown";
  return values.map((value): Value => ({ ...value, what: "tensor" })).reduce(either).device;
}

/** `torch.hub.load("owner/name", "vit_small")`; under some names there is what goes with a network. */
function isOfHub({ args }: Call): boolean {
  const entry = args[1]?.value;
  return (
    entry !== undefined && !(entry.kind === "Str" && /transform|token|config|util/i.test(entry.value ?? ""))
  );
}

/** Constructors and loaders of networks. */
function makesNetwork(name: string, around: Around): boolean {
  if (isModuleRole(around.roleOfName(name))) return true;
  if (/^(?:timm|torchvision\.models)\.(?:\w+\.)*[a-z]\w*$/.test(name))
    return !/transforms|list_models/.test(name);
  if (/^(?:peft\.get_peft_model|peft\.prepare_model_for_kbit_training)$/.test(name)) return true;
  return /^(?:transformers|diffusers|peft|trl|sentence_transformers)\.(?:\w+\.)*\w*(?:Model\w*|For[A-Z]\w+|AutoencoderKL)\.from_(?:pretrained|config)$/.test(
    name,
  );
}

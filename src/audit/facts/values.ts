import { annotated, askedType, isUnlessTensor } from "./asked-types.ts";
import { isNone } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import {
  areBesideLoss,
  isBesideLoss,
  isPartOfOne,
  isCount,
  isNumberOfForward,
  isSize,
  isToldBefore,
} from "./beside-results.ts";
import { entry } from "./arguments.ts";
import { CallValues } from "./call-values.ts";
import { attributesOf, holdsModules, isModuleDict, isModuleRole, selfAttribute } from "./classes.ts";
import type { Attribute, Role } from "./classes.ts";
import { putInto } from "./dict-entries.ts";
import { deviceOf, isChoiceOfDevice } from "./devices.ts";
import { Differentiated, itemKey } from "./differentiated.ts";
import { Elements, listedBy, positionIn, writtenAs } from "./elements.ts";
import { fedToNetworks } from "./fed.ts";
import { holdsIndices, isIndices } from "./indices.ts";
import { BATCH_INPUT, FORWARD_INPUT, isForwardInput, isForwardValue, isStepBatch } from "./inputs.ts";
import { likelyPart, likelyValue } from "./likely.ts";
import { Networks, isLayerName, isLossName } from "./naming.ts";
import { isGivenLayer, leavesLayer } from "./own-layers.ts";
import { ReturnedValues } from "./returned-values.ts";
import { readByNumpy } from "./transfers.ts";
import { PLAIN_ATTRIBUTES, SIZES, TENSOR_ATTRIBUTES } from "./torch-names.ts";
import {
  MODULE,
  NUMBER,
  OTHER,
  STRING,
  UNKNOWN,
  combineOperands,
  either,
  isOnDevice,
  isTensorLike,
  plain,
} from "./value.ts";
import type { Device, Value } from "./value.ts";

/** What a function hands back of what it is given: in another shape, or reduced over all processes. */
export interface HandedBack {
  readonly given: Expr;
  readonly shaped: boolean;
  /** Several things, each of them computed from it. */
  readonly each: boolean;
}

/** What the rest of the tree says about this file. */
export interface Around {
  /** Gradient recording at a node, callers included. */
  readonly gradMode: (node: Node) => "on" | "off" | "unknown";
  readonly role: (cls: ClassDef) => Role;
  readonly roleOfName: (dotted: string) => Role;
  /** What every caller in the tree passes for this parameter; null where they differ or are unknown. */
  readonly parameter: (definition: Definition) => Value | null;
  /** Whether a function runs in the forward of a network. */
  readonly inForward: (fn: FunctionDef) => boolean;
  /** What a call gives to a function of another file that hands it back. */
  readonly reduced: (call: Call, name: string) => HandedBack | null;
  /** The network that a call gives to a function of another file, which hands back what it computed, or that one of several. */
  readonly ran: (call: Call, index: number | null) => Expr | null;
  /** Whether a function of another file hands back a loss, whole, in its place of a tuple or under its key, and with its graph. */
  readonly loss: (call: Call, key: number | string) => "yes" | "no" | null;
  /** Where the forward that a call runs hands back numbers. */
  readonly numbers: (call: Call) => string | null;
  /** The losses that this file's loops hand to functions of the tree which take a step with them. */
  readonly stepped: () => readonly Expr[];
  /** A loss of the program goes on on the host with what it is given: which one, only who makes them knows. */
  readonly hostLoss: boolean;
  /** Whether what is not known is answered with what is likely. */
  readonly guesses: boolean;
}

const COUNTED = /accura|(?:^|_)[a-z]?acc$|^acc|correct|count|precision|recall|f1|iou|^num_/i;
/** `output.loss_value`, beside its loss. */
const READ = /_(?:value|val|item|float|scalar)$/;

/** An expression nested deeper than this gets no facts: it is generated code. */
const MAX_DEPTH = 60;
/** Evaluations spent on one question before the answer is "unknown". */
const MAX_STEPS = 400;

/** Compared with one of these, nothing is compared element by element. */
const NEVER_TENSORS: ReadonlySet<Expr["kind"]> = new Set(["Const", "Str", "Tuple", "List", "Dict"]);

const CONTAINER = plain("container");
/** What an expression is by its form alone. */
const WRITTEN: Readonly<Partial<Record<Expr["kind"], Value>>> = {
  Num: NUMBER,
  Str: STRING,
  Const: OTHER,
  Tuple: CONTAINER,
  List: CONTAINER,
  Set: CONTAINER,
  Dict: CONTAINER,
  Comp: CONTAINER,
  Lambda: OTHER,
};

/** Answers by following definitions; anything that cannot be followed is "unknown". */
export class Values {
  readonly #file: PythonFile;
  readonly #around: Around;
  readonly #calls: CallValues;
  readonly #returns: ReturnedValues;
  readonly #elements: Elements;
  readonly #known = new Map<Expr, Value>();
  readonly #definitions = new Map<Definition, Value>();
  /** Of attributes of self, by what is known of their writes. */
  readonly #attributes = new Map<Attribute, Value>();
  /** The questions that are being answered, the last one last: few at a time. */
  readonly #open: (Expr | Definition)[] = [];
  #cyclic = false;
  #steps = 0;
  #differentiated: Differentiated | null = null;
  #networks: Networks | null = null;
  #fed: ReadonlySet<Definition> | null = null;

  constructor(file: PythonFile, around: Around) {
    this.#file = file;
    this.#around = around;
    this.#calls = new CallValues(file, around, this);
    this.#returns = new ReturnedValues(file, around, this);
    this.#elements = new Elements(file, around, this);
  }

  get networks(): Networks {
    this.#networks ??= new Networks(this.#file, (cls) => isModuleRole(this.#around.role(cls)));
    return this.#networks;
  }

  #gradMode(node: Node): "on" | "off" | "unknown" {
    return this.#around.gradMode(node);
  }

  /** What a network is called with is on its device. */
  #isFed(definition: Definition): boolean {
    this.#fed ??= fedToNetworks(this.#file, this.networks, this.differentiated);
    return this.#fed.has(definition);
  }

  of(expr: Expr): Value {
    if (expr.kind !== "Name" && expr.kind !== "Attribute" && expr.kind !== "Call") {
      const written = WRITTEN[expr.kind];
      if (written) return written;
    }
    const known = this.#known.get(expr);
    if (known) return known;
    if (this.#open.length > MAX_DEPTH || this.#steps > MAX_STEPS || this.#open.includes(expr)) {
      this.#cyclic = true;
      return UNKNOWN;
    }
    // First of all, so that no answer is given, and kept, before it is known.
    if (this.#differentiated === null) void this.#behindLosses;
    this.#open.push(expr);
    this.#steps++;
    const value = placed(this.#guessed(expr, this.#compute(expr)));
    this.#open.pop();
    const outermost = this.#open.length === 0;
    // Inside a cycle (x = x + 1 in a loop) an answer rests on an open question: only the outermost is kept.
    if (outermost || !this.#cyclic) this.#known.set(expr, value);
    if (outermost) {
      this.#cyclic = false;
      this.#steps = 0;
    }
    return value;
  }

  #guessed(expr: Expr, known: Value): Value {
    if (!this.#around.guesses || this.#cyclic) return known;
    if (known.what === "unknown") return likelyPart(expr, this.#file) ?? known;
    return isTensorLike(known) && known.device === "unknown" ? { ...known, device: "network" } : known;
  }

  /** Definitions whose value is differentiated later: certainly tensors with a graph. */
  get differentiated(): ReadonlySet<Definition> {
    return this.#behindLosses.definitions;
  }

  get #behindLosses(): Differentiated {
    if (!this.#differentiated) {
      this.#differentiated = new Differentiated(
        this.#file,
        (expr) => expr.kind === "Num" || this.of(expr).what === "number",
      );
      this.#differentiated.follow(this.#around.role, this.#around.stepped());
      // What was asked on the way did not know of these yet.
      this.#known.clear();
      this.#definitions.clear();
    }
    return this.#differentiated;
  }

  definition(definition: Definition): Value {
    const known = this.#definitions.get(definition);
    if (known) return known;
    // `i += 1` in many places of one loop: each may be what reached the others, and so on.
    if (this.#steps > MAX_STEPS) {
      this.#cyclic = true;
      return UNKNOWN;
    }
    this.#open.push(definition);
    this.#steps++;
    const value = this.#defined(definition);
    this.#open.pop();
    const outermost = this.#open.length === 0;
    if (outermost || !this.#cyclic) this.#definitions.set(definition, value);
    if (outermost) {
      this.#cyclic = false;
      this.#steps = 0;
    }
    return value;
  }

  #defined(definition: Definition): Value {
    const value = this.#definedAnywhere(definition);
    return isOnDevice(value) && this.#file.once(readByNumpy).has(definition)
      ? { ...value, device: "cpu" }
      : value;
  }

  #definedAnywhere(definition: Definition): Value {
    const base = this.#definitionBase(definition);
    if (definition.value?.kind !== "Const" && this.differentiated.has(definition))
      return { what: "tensor", device: base.device === "unknown" ? "network" : base.device, graph: "yes" };
    const holds = this.#behindLosses.holders.has(definition);
    if (base.what === "unknown" && holds) return { what: "output", device: "network", graph: "yes" };
    if (base.what === "output" && base.graph === "unknown" && holds) return { ...base, graph: "yes" };
    if (base.what === "unknown" && this.#isFed(definition))
      return {
        what: "output",
        device: "network",
        graph: definition.how === "iterate" ? "no" : "unknown",
      };
    if (
      base.what === "unknown" &&
      isForwardValue(definition, this.#file, this.#around.role, this.#around.inForward)
    )
      return FORWARD_INPUT;
    if (this.#around.guesses && base.what === "unknown") return likelyValue(definition, this.#file) ?? base;
    return (base.what === "tensor" || base.what === "output") &&
      base.device === "unknown" &&
      (this.#around.guesses || this.#isFed(definition))
      ? { ...base, device: "network" }
      : base;
  }

  #definitionBase(definition: Definition): Value {
    switch (definition.how) {
      case "assign":
      case "walrus":
        return definition.value ? this.of(definition.value) : UNKNOWN;
      case "augment": {
        const value = definition.value ? this.of(definition.value) : UNKNOWN;
        if (value.what === "tensor" && value.device !== "unknown") return value;
        const before =
          definition.node.kind === "Name"
            ? this.alternatives(
                this.#file.scopes.reaching(definition.node).filter((other) => other !== definition),
              )
            : UNKNOWN;
        return combineOperands([before, value]);
      }
      case "unpack": {
        // `x, T, W = self.patch_embed(x)`: sizes beside the tensor.
        if (isSize(definition))
          // `V, log_probs = self.evaluate(obs)` of this file, which returns what the critic said.
          return definition.value?.kind === "Call" && definition.index !== null
            ? this.returned(definition.value, definition.index)
            : UNKNOWN;
        const value = definition.value ? this.of(definition.value) : UNKNOWN;
        if (isBesideLoss(definition) && !isLossName(definition.name)) return UNKNOWN;
        if (
          isCount(definition, this.#file) ||
          (value.what === "output" && isNumberOfForward(definition, this.#file, this.#around.numbers))
        )
          return NUMBER;
        // `loss, acc = net(x)`: counted, by somebody who may have read it.
        if (value.what === "output" && COUNTED.test(definition.name) && !isPartOfOne(definition))
          return { ...value, graph: "unknown" };
        if (value.what === "tensor" || value.what === "output") {
          if (!this.#around.guesses && isToldBefore(definition, this.differentiated, this.#file))
            return UNKNOWN;
          if (holdsIndices(definition)) return { ...value, what: "tensor", graph: "no" };
          const { value: call, index } = definition;
          // `actions, log_probs = self.actor.evaluate(states)`
          const own =
            value.graph === "unknown" && call?.kind === "Call"
              ? this.#calls.ranElsewhere(call, index)
              : UNKNOWN;
          return own.graph === "yes" ? own : value;
        }
        const sent = definition.value ? this.#elements.ofSent(definition.value) : UNKNOWN;
        if (isOnDevice(sent)) return sent;
        if (definition.value?.kind !== "Call" || definition.index === null) return UNKNOWN;
        const returned = this.returned(definition.value, definition.index);
        return returned.what === "unknown"
          ? this.#calls.ranElsewhere(definition.value, definition.index)
          : returned;
      }
      case "iterate":
        return definition.value ? this.#elements.of(definition.value, positionIn(definition)) : UNKNOWN;
      case "param":
        return this.#parameter(definition);
      case "function":
      case "class":
      case "import":
        return OTHER;
      default:
        return UNKNOWN;
    }
  }

  #parameter(definition: Definition): Value {
    const said =
      definition.node.kind === "Param" && definition.node.annotation
        ? annotated(this.#file, definition.node.annotation)
        : UNKNOWN;
    if (said.what !== "unknown" && said.what !== "tensor") return said;
    // `**values` holds what it is given: some of these may be tensors, asked for by key any may be a number.
    const rest = definition.node.kind === "Param" && definition.node.star === 2;
    return (
      (rest ? null : this.#around.parameter(definition)) ??
      (isStepBatch(definition, this.#around.role)
        ? BATCH_INPUT
        : isForwardInput(definition, this.#file, this.#around.role, this.#around.inForward)
          ? FORWARD_INPUT
          : said)
    );
  }

  /** `{name: torch.zeros(8) for name in names}`, of `self.counts` that is written in one place. */
  #kept(expr: Expr): Expr | null {
    const own = this.#around.guesses ? selfAttribute(expr) : null;
    const cls = own === null ? null : classOf(expr);
    const [write, ...more] = cls ? (attributesOf(cls, this.#file).get(own!)?.writes ?? []) : [];
    return write?.how === "assign" && more.length === 0 ? write.value : null;
  }

  /** Tensors, wherever each of them is computed; unknown where one is none. */
  alike(items: readonly Expr[]): Value {
    const values = items.map((item) => this.of(item));
    return values.length > 0 && values.every(({ what }) => what === "tensor" || what === "output")
      ? combineOperands(values)
      : UNKNOWN;
  }

  /** What a name is that any of these may have given its value. */
  alternatives(definitions: readonly Definition[]): Value {
    if (definitions.length === 0) return UNKNOWN;
    // What most names have.
    if (definitions.length === 1) return this.#only(definitions[0]!);
    let result: Value | null = null;
    for (const definition of this.#forDevice(definitions)) {
      // What is deleted cannot be read, and nothing can be done with what is None.
      if (definition.how === "delete" || (definition.value && isNone(definition.value))) continue;
      // What a loop feeds back adds nothing to what comes in from outside it.
      if (this.#open.includes(definition)) {
        this.#cyclic = true;
        continue;
      }
      const one = this.definition(definition);
      // `total = 0.0` before the loop does not make the sum a number.
      if (result === null || (result.what === "number" && one.what === "tensor")) result = one;
      else if (one.what === "number" && result.what === "tensor") continue;
      // `if cuda: data = data.cuda()` is for the device.
      else if (one.what === "unknown" && definition.how === "iterate" && isOnDevice(result)) continue;
      else if (
        result.what === "unknown" &&
        isOnDevice(one) &&
        definitions.some(({ how }) => how === "iterate")
      )
        result = one;
      else if (one.what !== result.what) {
        if (!isTensorLike(one) || !isTensorLike(result)) return UNKNOWN;
        result = either({ ...one, what: "output" }, { ...result, what: "output" });
      } else result = either(one, result);
    }
    return result ?? UNKNOWN;
  }

  #only(definition: Definition): Value {
    if (definition.how === "delete") return UNKNOWN;
    if (!this.#open.includes(definition)) return this.definition(definition);
    this.#cyclic = true;
    return UNKNOWN;
  }

  /** Without what is only for a run on the host, or is not known where the other branch is. */
  #forDevice(definitions: readonly Definition[]): readonly Definition[] {
    if (definitions.length < 2 || definitions.length > 4) return definitions;
    const isVague = (one: Definition, other: Definition): boolean => {
      if (one === other || !isChoiceOfDevice(one, other, this.#file)) return false;
      if (this.#open.includes(one) || this.#open.includes(other)) return false;
      const [vague, clear] = [this.definition(one), this.definition(other)];
      if (!isOnDevice(clear) || (vague.what !== "unknown" && !isTensorLike(vague))) return false;
      return !isOnDevice(vague) || (vague.graph === "unknown" && clear.graph !== "unknown");
    };
    const left = definitions.filter((one) => !definitions.some((other) => isVague(one, other)));
    return left.length > 0 ? left : definitions;
  }

  #compute(expr: Expr): Value {
    switch (expr.kind) {
      case "Name":
        return askedType(expr, this.#file) ?? this.alternatives(this.#file.scopes.reaching(expr));
      case "Attribute":
        return this.#attribute(expr);
      case "Call":
        return this.#calls.of(expr);
      case "Subscript": {
        // `loss.data[0]`: before there were tensors without dimensions, what `.item()` is today.
        if (isFirstOfLoss(expr)) return NUMBER;
        const value =
          expr.value.kind === "Name" && this.isCollection(expr.value)
            ? this.alternatives(this.#file.scopes.reaching(expr.value))
            : this.of(expr.value);
        if (isTensorLike(value) && areBesideLoss(expr.value, this.#file)) {
          // `items[0]`: what is counted through is likely a vector of them, what has keys a dict of numbers.
          if (!this.#around.guesses || expr.index.kind !== "Num") return UNKNOWN;
          return { what: "tensor", device: value.device, graph: "unknown" };
        }
        // A tensor's rows, a layer of a list of them.
        if (value.what === "tensor" || (value.what === "module" && holdsModules(expr.value, this.#file)))
          return value;
        // `batch = {k: v.to(device) for k, v in batch.items()}`
        const made =
          value.what === "container" ? (this.#kept(expr.value) ?? writtenAs(expr.value, this.#file)) : null;
        const each = made?.kind === "Call" ? listedBy(made, this.#file) : made;
        if (each?.kind === "Comp" && expr.index.kind !== "Slice") {
          const one = this.of(each.value ?? each.element);
          return isTensorLike(one) ? one : UNKNOWN;
        }
        // `inputs = {"input_ids": batch[0]}`, of which nothing else is put under that key.
        if (made?.kind === "Dict" && expr.index.kind === "Str" && expr.index.value !== null) {
          const written = entry(made, expr.index.value);
          const one = written ? this.of(written) : UNKNOWN;
          if (isTensorLike(one) && putInto(expr, expr.index.value, this.#file).length === 0) return one;
        }
        // `output["loss"] = …` in a dict that is filled key by key, and differentiated by that one.
        const { items } = this.#behindLosses;
        if (items.size > 0 && expr.index.kind === "Str" && items.has(itemKey(expr, this.#file)))
          return { what: "tensor", device: "network", graph: "yes" };
        if (value.what === "unknown" && expr.index.kind === "Str" && expr.value.kind === "Name") {
          const call = this.#file.scopes.onlyValue(expr.value);
          if (call?.kind !== "Call") return UNKNOWN;
          const key = expr.index.value ?? "";
          const entry = this.#returns.entry(call, key);
          return entry.what === "unknown" ? this.#calls.handedLoss(call, key) : entry;
        }
        return value.what === "output"
          ? {
              what: isOfTensor(expr.index) ? "tensor" : "output",
              device: value.device,
              // `outputs["accuracy"]` was counted: it has no graph, and may be a number.
              graph: isIndices(expr)
                ? "no"
                : expr.index.kind === "Str" && COUNTED.test(expr.index.value ?? "")
                  ? "unknown"
                  : value.graph,
            }
          : UNKNOWN;
      }
      case "Unary":
        return expr.op === "not" ? OTHER : this.of(expr.operand);
      case "Binary": {
        const left = this.of(expr.left);
        // `"loss %.3f, accuracy %.3f" % (total / n, accuracy)`
        if (expr.op === "%" && left.what === "string") return left;
        return this.computed(expr, [left, this.of(expr.right)]);
      }
      case "Compare": {
        if (expr.ops.some((op) => op === "is" || op === "is not" || op === "in" || op === "not in"))
          return OTHER;
        if (expr.rights.some((right) => NEVER_TENSORS.has(right.kind))) return OTHER;
        const value = combineOperands([this.of(expr.left), ...expr.rights.map((right) => this.of(right))]);
        return value.what === "tensor"
          ? { ...value, graph: "no" }
          : value.what === "number"
            ? OTHER
            : UNKNOWN;
      }
      case "IfExp":
        return isUnlessTensor(expr, this.#file)
          ? this.of(expr.body)
          : orNumber(this.of(expr.body), this.of(expr.orelse));
      case "Walrus":
        return this.of(expr.value);
      default:
        return UNKNOWN;
    }
  }

  isCollection(name: Expr & { kind: "Name" }): boolean {
    return askedType(name, this.#file)?.what === "container";
  }

  /** What a loop over this hands out; of pairs and triples the one at a position. */
  element(iterable: Expr, at: number | null): Value {
    return this.#elements.of(iterable, at);
  }

  /** What a function of this file returns, or one item of the tuple it returns. */
  returned(call: Call, index: number | null): Value {
    return this.#returns.of(call, index);
  }

  /** The result of an operation: without recording it has no graph, whatever its operands. */
  computed(node: Expr, operands: readonly Value[]): Value {
    const value = combineOperands(operands);
    return (value.what === "tensor" || value.what === "output") && this.#gradMode(node) === "off"
      ? { ...value, graph: "no" }
      : value;
  }

  #attribute(expr: Expr & { kind: "Attribute" }): Value {
    const own = selfAttribute(expr);
    if (own !== null) return this.#selfAttribute(expr, own);
    if (PLAIN_ATTRIBUTES.has(expr.attr)) return OTHER;
    const value = this.of(expr.value);
    if (expr.attr === "data" && isTensorLike(value)) return { ...value, graph: "no" };
    if (expr.attr === "grad" && value.what === "tensor") return { ...value, graph: "no" };
    // `p.grad` of parameters that were handed in
    if (expr.attr === "grad" && value.what === "unknown" && expr.value.kind === "Name")
      return { what: "tensor", device: "network", graph: "no" };
    if (isIndices(expr) && isTensorLike(value)) return { ...value, what: "tensor", graph: "no" };
    if (value.what === "tensor" && TENSOR_ATTRIBUTES.has(expr.attr)) return value;
    // `output.correct_percentage` was counted, by somebody who may have read it.
    if (value.what === "output" && (COUNTED.test(expr.attr) || SIZES.test(expr.attr) || READ.test(expr.attr)))
      return UNKNOWN;
    if (value.what === "output")
      return expr.attr === "loss" || expr.attr === "logits" ? { ...value, what: "tensor" } : value;
    // `losses.total`, where `losses.total.backward()` is said of it.
    const { items } = this.#behindLosses;
    if (items.size > 0 && items.has(itemKey(expr, this.#file)))
      return { what: "tensor", device: "network", graph: "yes" };
    return value.what === "module" && isModuleDict(expr.value, this.#file) ? MODULE : UNKNOWN;
  }

  #selfAttribute(expr: Expr, name: string): Value {
    const cls = classOf(expr);
    // `self.loss.backward()` somewhere in the class.
    const { attributes } = this.#behindLosses;
    if (cls && attributes.size > 0 && attributes.has(`${cls.start}.${name}`))
      return { what: "tensor", device: "network", graph: "yes" };
    const attribute = cls && attributesOf(cls, this.#file).get(name);
    if (!attribute) return UNKNOWN;
    const known = this.#attributes.get(attribute);
    if (known) return known;
    const writes = attribute.writes.filter((write) => !write.value || !this.#open.includes(write.value));
    if (writes.length === 0) return UNKNOWN;
    if (writes.length < attribute.writes.length) this.#cyclic = true;
    const values = writes.map((write) =>
      write.how === "buffer"
        ? ({ what: "tensor", device: "network", graph: "no" } as const)
        : write.value
          ? this.#written(write, name, cls)
          : UNKNOWN,
    );
    const value = values.some(({ what }) => what === "module")
      ? values.filter((_, at) => !leavesLayer(writes[at]!.value, name)).reduce(either, MODULE)
      : values.reduce(either);
    if (!this.#cyclic) this.#attributes.set(attribute, value);
    return value;
  }

  /** What a module keeps of a class that nobody here knows, `self.conv1 = DynamicEdgeConv(…)`, is a layer by its name. */
  #written(write: Attribute["writes"][number], name: string, cls: ClassDef): Value {
    const value = write.value!;
    const known = this.of(value);
    if (known.what !== "unknown" || !isModuleRole(this.#around.role(cls))) return known;
    return (value.kind === "Call" && isLayerName(this.#file.dotted(value.func))) ||
      isGivenLayer(write, name, cls, this.#file, (one) => this.of(one))
      ? MODULE
      : known;
  }

  /** Where a device expression points. */
  device(expr: Expr | null): Device {
    return deviceOf(expr, this.#file, (one) => this.of(one));
  }
}

/** `outputs["loss"]`, and `logits[:, 0]`: no tuple or dict is asked like that. */
function isOfTensor(index: Expr): boolean {
  if (index.kind === "Str") return index.value === "loss";
  return index.kind === "Tuple" && index.items.some(({ kind }) => kind === "Slice");
}

function isFirstOfLoss({ value, index }: Expr & { kind: "Subscript" }): boolean {
  return (
    index.kind === "Num" &&
    index.text === "0" &&
    value.kind === "Attribute" &&
    value.attr === "data" &&
    /loss/i.test(lastWord(value.value))
  );
}

/** `scores.max() if scores.numel() else 0`: a tensor as far as it matters. */
function orNumber(one: Value, other: Value): Value {
  if (one.what === "tensor" && other.what === "number") return one;
  return one.what === "number" && other.what === "tensor" ? other : either(one, other);
}

/** What has a graph was computed where the network is, unless it was sent away. */
function placed(value: Value): Value {
  return value.graph === "yes" && value.device === "unknown" && isTensorLike(value)
    ? { ...value, device: "network" }
    : value;
}

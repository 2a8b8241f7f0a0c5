import { isOfStar, keyword, positional, starModules } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, isStatement, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Lambda, Node, Param, Stmt } from "../../python/tree.ts";
import { isModuleRole } from "./classes.ts";
import { backwardsTaken } from "./attacks.ts";
import type { Role } from "./classes.ts";
import { decoratedGrad, isGradAsked, lexicalGrad } from "./gradmode.ts";
import type { Networks } from "./naming.ts";
import { isOfForward, isReachedFromForward } from "./heat.ts";
import { loopsHandingSteps } from "./handed-steps.ts";
import { frequency } from "./guards.ts";
import { isLossCall } from "./inputs.ts";
import type { Frequency } from "./guards.ts";
import type { Pinning } from "./loaders.ts";
import type { FunctionFacts, ProjectFacts } from "./project.ts";
import { roleByWord, wordsOf } from "./project-words.ts";
import { last } from "./torch-names.ts";
import { callTarget, instanceType, nameOfFunction } from "./summary.ts";
import {
  backwardCalls,
  engineSteps,
  isStepMethod,
  isTrial,
  loopOfSteps,
  loopsAround,
  stepBlock,
  stepsTaken,
} from "./training.ts";
import type { Backward, Loop } from "./training.ts";
import { EACH, SHAPED } from "./returns.ts";
import { turnOfOne } from "./turns-of-one.ts";
import { ONE_PROGRAM, isBeforeError, isSeldom, likelyStep, likelyTraining } from "./likely.ts";
import { lossesStepped } from "./stepped-losses.ts";
import { isTurnedOff, switchesGiven } from "./training-switch.ts";
import { Values } from "./values.ts";
import type { HandedBack } from "./values.ts";
import type { Value } from "./value.ts";
import { everyUpdate } from "./updates.ts";

/** Why code runs at least once per training step. */
export interface Hot {
  readonly why: string;
  /** The loop, function or method whose every turn it runs in. */
  readonly within: Node;
}

const COLD: FunctionFacts = {
  hot: null,
  callersGradOff: "unknown",
  loose: false,
  switch: null,
  reachesBackward: false,
  parameters: {},
  params: [],
  repeated: false,
  keeps: null,
  reads: false,
  opens: null,
  syncs: null,
  copies: null,
  pins: false,
  loads: null,
  workers: false,
  collates: false,
  table: null,
  wide: null,
  reduces: null,
  usesUp: null,
  runs: null,
  losses: null,
  cutsOff: false,
  numbers: null,
  uncleared: false,
  evaluates: false,
  unguarded: false,
  infers: null,
  queues: false,
  forwards: false,
  meets: false,
  makes: null,
  clips: false,
  holds: null,
  onlyRead: false,
};

/** What a file says that trains, evaluates, or makes what these need. */
const TRAINING =
  /backward|zero_grad|[lL]oader|\.step\(|epoch|[eE]valuat|\.fit\(|\.eval\(|optimizer|Trainer\b|_step\b|\btrain\(|retain_graph/;

/** `def distill_loss(scores, target)`, or what stands beside it: `losses.weighted_average`. */
function isOfLoss({ name, parent }: FunctionDef, { module }: PythonFile): boolean {
  return parent?.kind === "Module" && LOSS.test(`${last(module)} ${name}`);
}

const LOSS =
  /loss|criteri|(?<![a-z])(?:ce|bce|kld?|kd|mse|nll|dice|iou|ssim|psnr|cross_?entropy|accuracy)(?![a-z])/i;

/** What Lightning and transformers call once an epoch. */
const EPOCH_HOOKS = /^on_(?:train_)?epoch_(?:start|begin|end)$/;

/** What a file holds that nobody starts: a text on top, imports, definitions, constants. */
const DEFINES = /^(?:ExprStmt|Import|ImportFrom|ClassDef|FunctionDef|Assign|Try)$/;

/** Or `if __name__ == "__main__": pass`. */
const isDefinition = (one: Stmt): boolean =>
  DEFINES.test(one.kind) || (one.kind === "If" && one.body.every(({ kind }) => kind === "Pass"));

/** All a rule may ask about one file. Every answer has an "unknown", on which rules stay silent. */
export class Facts {
  readonly file: PythonFile;
  readonly project: ProjectFacts;
  readonly #values: Values;
  #backwards: readonly Backward[] | null = null;
  #stepLoops: ReadonlySet<Loop> | null = null;
  readonly #callsTo = new Map<string, readonly Call[]>();
  #anyHot: boolean | null = null;
  #anyTraining: boolean | null = null;
  /** By function; null stands for the file's own statements. */
  readonly #functions = new Map<Node | null, FunctionFacts>();
  readonly #mayBeHot = new Map<Node, boolean>();
  readonly #roles = new Map<ClassDef, Role>();
  readonly #imported = new Map<string, Role>();
  readonly #answers = new Map<unknown, unknown>();

  /** Whether what is not known is answered with what is likely. */
  readonly guesses: boolean;

  constructor(file: PythonFile, project: ProjectFacts, guesses = false) {
    this.file = file;
    this.project = project;
    this.guesses = guesses;
    this.#values = new Values(file, {
      gradMode: (node) => this.gradMode(node),
      role: (cls) => this.role(cls),
      roleOfName: (dotted) => this.roleOfName(dotted),
      parameter: (definition) => this.#parameter(definition),
      inForward: (fn) => {
        const { hot } = this.#functionFacts(fn);
        // What a step computes its loss with has it from the network, too.
        return isReachedFromForward(hot) || (hot !== null && isOfLoss(fn, file));
      },
      reduced: (call, name) => this.#reduced(call, name),
      ran: (call, index) => this.ranElsewhere(call, index),
      loss: (call, key) => this.#handedLoss(call, key),
      numbers: (call) => this.callee(call)?.numbers ?? null,
      stepped: () => lossesStepped(this),
      hostLoss: project.hostLosses.has(file.module),
      guesses,
    });
  }

  /** What `ask` says of these facts, asked once. */
  once<T>(ask: (facts: Facts) => T): T {
    let answer = this.#answers.get(ask) as T | undefined;
    if (answer === undefined) this.#answers.set(ask, (answer = ask(this)));
    return answer;
  }

  get networks(): Networks {
    return this.#values.networks;
  }

  #reduced(call: Call, name: string): HandedBack | null {
    const callee = wordsOf(this.project).reduces.has(last(name)) ? this.callee(call) : null;
    if (!callee?.reduces) return null;
    const shaped = callee.reduces.startsWith(SHAPED);
    const each = callee.reduces.startsWith(EACH);
    const param = shaped || each ? callee.reduces.slice(1) : callee.reduces;
    const shift = callee.params[0] === "self" ? 1 : 0;
    const given = keyword(call, param)?.value ?? positional(call, callee.params.indexOf(param) - shift);
    return given && { given, shaped, each };
  }

  /** What a function of another file runs, of what it is given, for what it hands back, or for one of the things it does. */
  ranElsewhere(call: Call, index: number | null): Expr | null {
    const { func } = call;
    const name = this.file.dotted(func) ?? (func.kind === "Attribute" ? func.attr : null);
    const callee = name !== null && wordsOf(this.project).runs.has(last(name)) ? this.callee(call) : null;
    // What differentiates it itself hands back what is left.
    if (!callee?.runs || callee.reachesBackward) return null;
    const [param, ...at] = callee.runs.split(",");
    if (index === null ? at.length > 0 : at.length > 0 && !at.includes(String(index))) return null;
    if (param === "self") return func.kind === "Attribute" ? func.value : null;
    return keyword(call, param!)?.value ?? positional(call, callee.params.indexOf(param!));
  }

  /** Whether a function of another file hands back a loss, whole, in its place of a tuple or under its key: with its graph, or without. */
  #handedLoss(call: Call, key: number | string): "yes" | "no" | null {
    const word = lastWord(call.func);
    const { losses } = wordsOf(this.project);
    if (losses.size === 0 || !(losses.has(word) || this.file.once(madeFunctions).includes(word))) return null;
    const handed = this.callee(call)?.losses?.split(",") ?? [];
    return handed.includes(`${key}+`) ? "yes" : handed.includes(`${key}-`) ? "no" : null;
  }

  /** Whether all that call its function, in whatever file, give a parameter tensors. */
  isGivenTensors(param: Param): boolean {
    const definition = this.file.scopes.definitionAt(param);
    return definition !== null && this.#parameter(definition)?.what === "tensor";
  }

  #parameter({ node, name }: Definition): Value | null {
    const fn = node.parent;
    return fn?.kind === "FunctionDef" ? (this.#functionFacts(fn).parameters[name] ?? null) : null;
  }

  /** The role of a class by the name this file imports it under, which counts from some folder above the file. */
  roleOfName(dotted: string): Role {
    const { roles } = this.project;
    let role = roles.get(dotted) ?? this.#imported.get(dotted);
    if (role !== undefined) return role;
    for (let at = this.file.module; role === undefined && at.includes(".");) {
      at = at.slice(0, at.lastIndexOf("."));
      role = roles.get(`${at}.${dotted}`);
    }
    role ??= roleByWord(dotted, this.project);
    this.#imported.set(dotted, role);
    return role;
  }

  /** The attributes that are modules, of the network of the tree that a name stands for. */
  partsOf(network: Expr): readonly string[] {
    const dotted = instanceType(network, this.file);
    if (dotted === null) return [];
    const { parts } = this.project;
    let names = parts.get(dotted);
    for (let at = this.file.module; names === undefined && at.includes(".");) {
      at = at.slice(0, at.lastIndexOf("."));
      names = parts.get(`${at}.${dotted}`);
    }
    // Below the audited root, where only one is called that.
    if (names === undefined) {
      const [one, ...more] = [...parts.keys()].filter((name) => name.endsWith(`.${dotted}`));
      names = one !== undefined && more.length === 0 ? parts.get(one) : undefined;
    }
    return names?.split(",") ?? [];
  }

  /** What an expression's value is: tensor or not, on which device, with a graph or not. */
  value(expr: Expr): Value {
    return this.#values.of(expr);
  }

  /** Whether the value is a tensor on an accelerator, so that reading it makes the host wait. */
  onAccelerator(expr: Expr): boolean {
    const { what, device } = this.value(expr);
    return (what === "tensor" || what === "output") && this.isAccelerator(device);
  }

  /** Whether this file, or one that it is joined to by imports, uses an accelerator; likely any of a small program that does not start or train anything by itself. */
  get accelerator(): boolean {
    const { accelerated, files } = this.project;
    return (
      accelerated.has(this.file.module) ||
      (this.guesses &&
        files <= ONE_PROGRAM &&
        accelerated.size > 0 &&
        this.backwards.length === 0 &&
        this.file.tree.module.body.every(isDefinition))
    );
  }

  /** Whether the DataLoaders of this file, and of those it is joined to by imports, pin their batches. */
  get pins(): Pinning | null {
    return this.project.pinning.get(this.file.module) ?? null;
  }

  /** "network" is where the training runs: on the accelerator, in a program that uses one. */
  isAccelerator(device: Value["device"]): boolean {
    return device === "accelerator" || (device === "network" && this.accelerator);
  }

  valueOfDefinition(definition: Definition): Value {
    return this.#values.definition(definition);
  }

  /** Whether the value of this definition is what a backward pass starts from. */
  isDifferentiated(definition: Definition): boolean {
    return this.#values.differentiated.has(definition);
  }

  /** Where `device=` or the argument of `.to()` points. */
  device(expr: Expr | null): Value["device"] {
    return this.#values.device(expr);
  }

  get backwards(): readonly Backward[] {
    this.#backwards ??= backwardCalls(this.file);
    return this.#backwards;
  }

  functionFacts(node: Node): FunctionFacts {
    return this.#functionFacts(functionOf(node));
  }

  #functionFacts(fn: FunctionDef | Lambda | null): FunctionFacts {
    let facts = this.#functions.get(fn);
    if (!facts) {
      facts = this.project.functions.get(nameOfFunction(fn, this.file)) ?? COLD;
      this.#functions.set(fn, facts);
    }
    return facts;
  }

  /** Facts about the function a call goes to, when it is in the audited tree. */
  callee(call: Node & { kind: "Call" }): FunctionFacts | null {
    const target = callTarget(call, this.file);
    if (target === null) return this.#ofStars(call.func);
    const { functions, aliases } = this.project;
    return functions.get(target) ?? functions.get(aliases.get(target) ?? "") ?? null;
  }

  /** After `from utils import *` and `from metrics import *`: the one of these modules that has the function. */
  #ofStars(func: Expr): FunctionFacts | null {
    if (func.kind !== "Name" || !isOfStar(func, this.file)) return null;
    const { functions } = this.project;
    const names = this.file.once(starModules).map((module) => `${module}.${func.id}`);
    // The names count from some folder above the file.
    const above = [""];
    for (let at = this.file.module; at.includes(".");)
      above.push(`${(at = at.slice(0, at.lastIndexOf(".")))}.`);
    for (const folder of above) {
      const [one, ...more] = names.flatMap((name) => functions.get(folder + name) ?? []);
      if (one) return more.length === 0 ? one : null;
    }
    return null;
  }

  /** Calls that may go to a function of the tree of which this is known; whether one does, `callee` says. */
  callsTo(
    fact: "loose" | "keeps" | "copies" | "uncleared" | "loads" | "wide" | "meets" | "makes" | "clips",
  ): readonly Call[] {
    let calls = this.#callsTo.get(fact);
    if (!calls) {
      const words = wordsOf(this.project)[fact];
      // The call of an instance is written with a name of its own.
      calls = words.has("forward")
        ? this.file.all("Call")
        : this.file.callsNamed(...words, ...this.file.once(madeFunctions));
      if (fact === "loose") calls = calls.filter((call) => !this.#isIdle(call));
      this.#callsTo.set(fact, calls);
    }
    return calls;
  }

  /** A call that tells its function not to train. */
  #isIdle(call: Call): boolean {
    const callee = this.callee(call);
    return callee !== null && isTurnedOff(callee.switch, callee.params, switchesGiven(call));
  }

  /** Whether a function of this file may be one that a loader of another one collates with. */
  get mayCollate(): boolean {
    const { collates } = wordsOf(this.project);
    return collates.size > 0 && this.file.all("FunctionDef").some(({ name }) => collates.has(name));
  }

  role(cls: ClassDef): Role {
    let role = this.#roles.get(cls);
    if (!role) {
      role = this.project.roles.get(this.file.qualified(cls)) ?? "other";
      this.#roles.set(cls, role);
    }
    return role;
  }

  /** Gradient recording where the node runs: with statements, decorators, then the callers. */
  gradMode(node: Node): "on" | "off" | "unknown" {
    const known = this.#gradMode(node);
    // Where an option says so, it may be off.
    return known === "unknown" && this.guesses && this.hot(node) !== null && !isGradAsked(node)
      ? "on"
      : known;
  }

  #gradMode(node: Node): "on" | "off" | "unknown" {
    const lexical = lexicalGrad(node, this.file);
    if (lexical !== null) return lexical;
    const fn = functionOf(node);
    if (!fn) return "on";
    const { callersGradOff, reachesBackward } = this.functionFacts(node);
    if (callersGradOff === "always") return "off";
    if (callersGradOff === "never") return "on";
    const method = stepMethod(fn);
    // A forward that `generate` runs without recording is what training runs with it; so is `run_epoch(train=False)`.
    if (callersGradOff === "sometimes")
      return (method?.name === "forward" && isModuleRole(this.role(method.parent as ClassDef))) ||
        (method !== null && isStepMethod(method, this.role(method.parent as ClassDef))) ||
        this.backwards.some(({ call }) => functionOf(call) === fn)
        ? "on"
        : "unknown";
    // Nobody is seen calling it: what differentiates needs recording, and frameworks call these methods.
    const role = method ? this.role(method.parent as ClassDef) : "other";
    if (method && isStepMethod(method, role)) return "on";
    if (method && role === "lightning" && /^(?:validation|test|predict)_step$/.test(method.name))
      return "off";
    return reachesBackward ? "on" : "unknown";
  }

  /** Loops whose body is one training step: innermost around a backward, an optimizer step, or a call that takes one. */
  get stepLoops(): ReadonlySet<Loop> {
    if (!this.#stepLoops) {
      const found = new Set<Loop>();
      const add = (node: Node): void => {
        const loop = loopOfSteps(node);
        if (loop && !isTrial(loop, this.file)) found.add(loop);
      };
      if (this.guesses)
        for (const loop of [
          ...this.file.all("For").filter((one) => likelyTraining(one, this.file)),
          ...loopsHandingSteps(this.file, this.backwards).filter((one) => !isTrial(one, this.file)),
        ])
          found.add(loop);
      for (const { call } of backwardsTaken(this.file, this.backwards)) add(call);
      for (const call of stepsTaken(this.file, this.backwards)) add(call);
      for (const call of this.callsTo("loose"))
        if (loopsAround(call).length > 0 && this.callee(call)?.loose === true) add(call);
      for (const call of engineSteps(this.file)) add(call);
      this.#stepLoops = found;
    }
    return this.#stepLoops;
  }

  /** Whether anything in this file runs once per training step or more. */
  get anyHot(): boolean {
    this.#anyHot ??=
      this.stepLoops.size > 0 ||
      (this.guesses && this.file.all("FunctionDef").some((fn) => likelyStep(fn, this.file))) ||
      this.file
        .all("FunctionDef")
        .some((fn) => this.#functionFacts(fn).hot !== null || lossWithoutModule(fn, this.file) !== null);
    return this.#anyHot;
  }

  /**
   * Whether anything in this file trains or evaluates, or is run by what does so elsewhere: half of a large tree are networks,
   * and their layers run for whoever trains them.
   */
  get anyTraining(): boolean {
    this.#anyTraining ??=
      this.file.says(TRAINING) ||
      this.file.all("FunctionDef").some((fn) => {
        const { hot, repeated, evaluates } = this.#functionFacts(fn);
        return evaluates || (hot === null ? repeated : !isOfForward(hot));
      });
    return this.#anyTraining;
  }

  /** The innermost training-step loop around the node, in its own function. */
  stepLoop(node: Node): Loop | null {
    const loops = this.stepLoops;
    return loops.size === 0 ? null : (loopsAround(node).find((loop) => loops.has(loop)) ?? null);
  }

  /** Whether the node runs at least once per training step, and why. Null means "not known to". */
  hot(node: Node): Hot | null {
    const loop = this.stepLoop(node);
    if (loop && isMeasurement(node)) return null;
    if (loop) return { why: "in the training loop", within: stepBlock(node, loop, this.backwards) };
    let child = node;
    let fn = node.parent;
    for (; fn && fn.kind !== "FunctionDef" && fn.kind !== "Lambda"; fn = fn.parent) child = fn;
    if (!fn) return null;
    // Its decorators and what its parameters are by default run where it is defined.
    const inside = fn.kind === "Lambda" ? fn.body === child : isStatement(child);
    const why =
      this.#functionFacts(inside ? fn : functionOf(fn)).hot ??
      lossWithoutModule(fn, this.file) ??
      (this.guesses && inside ? this.#likelyHot(fn) : null);
    return why === null || isEvaluation(fn, this.file) ? null : { why, within: fn };
  }

  /** `def closure(): …` in the loop that hands it to its optimizer, or what is called like a step. */
  #likelyHot(fn: FunctionDef | Lambda): string | null {
    // An optimizer's own step records nothing either.
    if (fn.kind === "FunctionDef" && fn.name !== "step" && decoratedGrad(fn, this.file) === "off")
      return null;
    if (this.stepLoop(fn)) return "made in the training loop";
    return likelyStep(fn, this.file) ? "a step, by its name" : null;
  }

  /** Whether it, or anything around it, may run once a step or more: what most do not, asked before what costs more. */
  mayBeHot(node: Node): boolean {
    for (let at = node.parent; at; at = at.parent) {
      if (at.kind === "FunctionDef" || at.kind === "Lambda") {
        let known = this.#mayBeHot.get(at);
        if (known === undefined) {
          known =
            this.#functionFacts(at).hot !== null ||
            lossWithoutModule(at, this.file) !== null ||
            (this.guesses && likelyStep(at, this.file)) ||
            this.mayBeHot(at);
          this.#mayBeHot.set(at, known);
        }
        return known;
      }
      if ((at.kind === "For" || at.kind === "While") && this.stepLoops.has(at)) return true;
    }
    return false;
  }

  /** How often the node runs per turn of what makes it hot. */
  frequency(node: Node, within: Node): Frequency {
    const found = frequency(node, within, this.file);
    if (this.guesses) {
      const turn = found === "throttled" ? turnOfOne(node, within, this) : null;
      if (turn && frequency(node, turn, this.file) !== "throttled" && !isCaught(node, within))
        return this.frequency(turn, within);
      if (found === "throttled" || isCaught(node, within) || isBeforeError(node, within)) return "throttled";
      return isSeldom(node, within, this.file, this.project) ? "unknown" : "every";
    }
    return found === "every" && this.#isForMissing(node) ? "unknown" : found;
  }

  /** `if mask is None:` in a function that every caller in the tree gives one. */
  #isForMissing(node: Node): boolean {
    for (let child = node, at = node.parent; at && at.kind !== "FunctionDef"; child = at, at = at.parent) {
      if (at.kind !== "If" || at.test.kind !== "Compare" || at.test.left.kind !== "Name") continue;
      const [right] = at.test.rights;
      const missing = at.test.ops[0] === "is" ? at.body : at.test.ops[0] === "is not" ? at.orelse : null;
      if (right?.kind !== "Const" || right.value !== null || !missing?.includes(child as never)) continue;
      const [one] = this.file.scopes.reaching(at.test.left);
      const given = one?.how === "param" ? this.#parameter(one) : null;
      if (given && (given.what === "tensor" || given.what === "output")) return true;
    }
    return false;
  }

  /** The loop over epochs around the node, in its own function: around a step's loop, or one that calls what trains. */
  epochLoop(node: Node): Loop | null {
    const loops = loopsAround(node);
    return (
      loops.find((loop) => [...this.stepLoops].some((inner) => inner !== loop && contains(loop, inner))) ??
      loops.find((loop) =>
        this.file
          .all("Call")
          .some((call) => contains(loop, call) && this.callee(call)?.reachesBackward === true),
      ) ??
      null
    );
  }

  /** Runs in every epoch: in a loop over them, or in a function that trains and is called in a loop. */
  everyEpoch(node: Node): boolean {
    const loops = loopsAround(node);
    const epochs = this.epochLoop(node);
    if (epochs) return this.frequency(node, epochs) === "every";
    const fn = functionOf(node);
    if (fn?.kind === "FunctionDef" && fn.parent?.kind === "ClassDef" && EPOCH_HOOKS.test(fn.name)) {
      const role = this.role(fn.parent);
      if (role === "lightning" || role === "callback") return this.frequency(node, fn) === "every";
    }
    const { repeated, reachesBackward } = this.functionFacts(node);
    return (
      loops.length === 0 && fn !== null && repeated && reachesBackward && this.frequency(node, fn) === "every"
    );
  }

  /** Hot, and on every turn: the usual first question of a rule about cost per step. */
  everyStep(node: Node): Hot | null {
    const hot = this.hot(node);
    return hot && (this.frequency(node, hot.within) === "every" || everyUpdate(node, this)) ? hot : null;
  }
}

/** The method of a Lightning module around a node that is called with every batch of a validation or a test. */
export function validationStep(node: Node, facts: Facts): FunctionDef | null {
  const fn = functionOf(node);
  const cls = fn?.kind === "FunctionDef" && /^(?:validation|test)_step$/.test(fn.name) ? fn.parent : null;
  return cls?.kind === "ClassDef" && facts.role(cls) === "lightning" ? (fn as FunctionDef) : null;
}

/** Names of functions that others have made: `backwards = partial(loss_backwards, fp16)`, `step = make_step(model)`. */
function madeFunctions(file: PythonFile): readonly string[] {
  const called = new Set<string>();
  for (const { func } of file.all("Call")) if (func.kind === "Name") called.add(func.id);
  const found: string[] = [];
  for (const { targets, value } of file.all("Assign")) {
    const target = targets[0]!;
    if (value.kind === "Call" && target.kind === "Name" && called.has(target.id)) found.push(target.id);
  }
  return found;
}

/** `@torch.no_grad() def test(model, loader):` goes through the data to judge, though every epoch is one step. */
function isEvaluation(fn: FunctionDef | Lambda, file: PythonFile): boolean {
  return (
    fn.kind === "FunctionDef" &&
    /^_*(?:test|eval|evaluate|validate|valid|predict)(?:_|$)/.test(fn.name) &&
    decoratedGrad(fn, file) === "off"
  );
}

/** One that its name calls a loss, or the file that it stands in: `class L1: def __call__(self, x, y)` in `losses.py`. */
function lossWithoutModule(fn: FunctionDef | Lambda, { module }: PythonFile): string | null {
  if (fn.kind !== "FunctionDef" || fn.parent?.kind !== "ClassDef") return null;
  const ofFile = fn.name === "__call__" && /(?:^|\.)(?:loss(?:es)?|criteri(?:on|a))$/.test(module);
  return ofFile || isLossCall(fn) ? `call of ${fn.parent.name}` : null;
}

/** `def measure_vram(…):` takes a few steps to look at them. */
function isMeasurement(node: Node): boolean {
  const fn = functionOf(node);
  return fn?.kind === "FunctionDef" && /^_*(?:measure|profile|benchmark)_/.test(fn.name);
}

function stepMethod(fn: FunctionDef | Lambda): FunctionDef | null {
  return fn.kind === "FunctionDef" && fn.parent?.kind === "ClassDef" ? fn : null;
}

/** In an `except`: what does not happen as a rule. */
function isCaught(node: Node, within: Node): boolean {
  for (let at = node.parent; at && at !== within; at = at.parent) if (at.kind === "Handler") return true;
  return false;
}

import { argument, isFalse, isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Attribute, Call, ClassDef, Expr, Node } from "../../python/tree.ts";
import { comesFromNetwork, feedsBackward } from "../facts/behind-loss.ts";
import { isSelf, attributesOf, isModuleRole, isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import { isDetached } from "../facts/detached.ts";
import type { Facts } from "../facts/facts.ts";
import { derivesFromInput } from "../facts/flow.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { ranByHelper } from "../facts/handed-networks.ts";
import { runsOf } from "../facts/network-runs.ts";
import { isNetwork, ranNetwork } from "../facts/networks.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import { likelyLeftOut } from "../facts/likely-left-out.ts";
import { likelyParts } from "../facts/likely-parts.ts";
import { likelyWrapped } from "../facts/likely-wrapped.ts";
import { inLossOfAnother, unwantedGradients } from "../facts/adversaries.ts";
import type { Unwanted } from "../facts/anothers-steps.ts";
import { attackGradients } from "../facts/attack-gradients.ts";
import type { AttackGradients } from "../facts/attack-gradients.ts";
import { keptToItself } from "../facts/kept-to-itself.ts";
import { learningInputs } from "../facts/learning-inputs.ts";
import type { LearningInput } from "../facts/learning-inputs.ts";
import { leftOutByCallers, leftOutOfClass } from "../facts/left-out.ts";
import type { LeftOut } from "../facts/left-out.ts";
import { learnByOption } from "../facts/learns-by-option.ts";
import type { LearnsByOption } from "../facts/learns-by-option.ts";
import { switchedOnInTurn } from "../facts/one-sided.ts";
import { inNamedLoss } from "../facts/named-losses.ts";
import { ownJudges } from "../facts/own-judges.ts";
import { partsAlone } from "../facts/left-parts.ts";
import type { PartsAlone } from "../facts/left-parts.ts";
import type { Finding, Rule } from "../rule.ts";
import { chosenByName, passedOver, switchedOnOnly } from "../facts/chosen-parameters.ts";
import type { Chosen } from "../facts/chosen-parameters.ts";
import {
  hasParameters,
  isOwnNetwork,
  isParameterless,
  makesOptimizer,
  parametersOf,
  torchOptimizers,
} from "../facts/optimised.ts";
import { FREEZES, besideOthers, isFrozenInTurn, namedIn } from "../facts/freezing.ts";

export const rule: Rule = {
  meta: {
    code: "PLM066",
    name: "gradients-for-what-does-not-learn",
    summary:
      "A network that does not learn in this step gets gradients all the same: computed, kept, perhaps used later",
    severity: "warning",
    fix: "none",
    patterns: [66, 20],
  },
  *check(facts) {
    const seen = new Set<Node>();
    const trains = facts.backwards.length > 0;
    const sent = facts.networks.someOnlyEvaluated ? [...parts(facts)] : [];
    const judged = [...judging(facts)];
    const adversaries = trains ? [...unwantedGradients(facts)] : [];
    const said = new Set(sent.map(({ at }) => classOf(at as Node)));
    const found = [
      ...sent,
      // Of a class whose forward is told of, where its network is made need not be.
      ...judged,
      ...[...perceptual(facts)].filter(({ at }) => !said.has(classOf(at as Node))),
      ...[...switchedOnOnly(facts)].map(ofSwitchedOn),
      ...(facts.anyTraining
        ? [
            ...[...passedOver(facts)].map(ofPassedOver),
            ...[...chosenByName(facts)].map(ofChosen),
            ...[...partsAlone(facts)].map(ofPartsAlone),
            ...[...likelyParts(facts)].map(ofChosen),
            ...[...likelyWrapped(facts)].map(ofPartsAlone),
          ]
        : []),
      ...[...inLossOfAnother(facts)].map(unwanted),
      // Of what is told of where it runs, another loss need not be.
      ...[...inNamedLoss(facts)]
        .filter(({ network }) => adversaries.every((one) => one.network !== network))
        .map(unwanted),
      ...(trains || facts.file.mentions("configure_optimizers")
        ? [...leftOutOfClass(facts)].map(ofNoOptimizer)
        : []),
      ...(trains
        ? [
            ...evaluated(facts),
            ...leftOut(facts),
            // What is only judged with is told of where it is made.
            ...(judged.length > 0 ? [] : [...leftOutByCallers(facts)].map(ofNoCallersOptimizer)),
            ...[...likelyLeftOut(facts)].map(ofNoMaker),
            ...[...keptToItself(facts)].map(ofNobody),
            ...[...learnByOption(facts)].map(ofOption),
            ...[...attackGradients(facts)].map(ofAttack),
            ...(facts.guesses ? [...learningInputs(facts)].map(ofInput) : []),
            ...besidePart(facts),
            ...partsOptimised(facts),
            ...underAdapters(facts),
            ...adversaries.map(unwanted),
            // Of what is told of where it runs, where it is switched on need not be.
            ...[...switchedOnInTurn(facts)]
              .filter(({ network }) => adversaries.every((one) => one.network !== network))
              .map(neverOff),
          ]
        : []),
    ];
    const told = new Set(found.map(({ at }) => classOf(at as Node)));
    for (const finding of [
      ...found,
      ...ownJudging(facts).filter(({ at }) => !told.has(classOf(at as Node))),
    ]) {
      if (seen.has(finding.at as Node)) continue;
      seen.add(finding.at as Node);
      yield finding;
    }
  },
};

function ofNoOptimizer({ run, network }: LeftOut): Finding {
  return {
    at: run,
    severity: "note",
    message: `\`${network}\` is in no optimizer of this class, yet its graph is kept and its gradients are computed; run it under \`no_grad\`, or freeze it`,
  };
}

function ofNoCallersOptimizer({ run, network }: LeftOut): Finding {
  return {
    at: run,
    severity: "note",
    message: `\`${network}\` is in no optimizer of who calls this, yet its graph is kept and its gradients are computed, unless it is frozen elsewhere; run it under \`no_grad\`, or freeze it`,
  };
}

function ofNoMaker({ run, network }: LeftOut): Finding {
  return {
    at: run,
    severity: "note",
    message: `\`${network}\` is not handed to what makes the optimizer, yet its graph is kept and its gradients are computed, unless it is frozen elsewhere; run it under \`no_grad\`, or freeze it`,
  };
}

function ofNobody({ run, network }: LeftOut): Finding {
  return {
    at: run,
    severity: "note",
    message: `\`${network}\` is in no optimizer, as nobody is handed its parameters, yet they get gradients; run it under \`no_grad\`, or freeze it where they must pass through it`,
  };
}

function ofAttack({ at, network }: AttackGradients): Finding {
  return {
    at,
    severity: "note",
    message: `Beside the gradient of its input that is asked for, those of all parameters of \`${network}\` are computed and added to what they hold; \`torch.autograd.grad\` with that input alone computes no others`,
  };
}

function ofOption({ run, network, why }: LearnsByOption): Finding {
  return {
    at: run,
    severity: "note",
    message: `\`${network}\` is in the optimizer ${why}, yet without that its gradients are computed and kept all the same; \`requires_grad_(False)\` on it where it does not learn`,
  };
}

function ofPartsAlone({ at, parts, network }: PartsAlone): Finding {
  return {
    at,
    severity: "note",
    message: `Only ${parts.map((part) => `\`${part}\``).join(", ")} ${parts.length > 1 ? "are" : "is"} optimised; every other parameter of \`${network}\` gets gradients that nobody uses or clears, unless it is frozen elsewhere: freeze it with \`requires_grad_(False)\``,
  };
}

function ofPassedOver({ at, network }: Chosen): Finding {
  return {
    at,
    severity: "note",
    message: `Which parameters of \`${network}\` are optimised is chosen by name; the others get gradients that nobody uses or clears, unless they are frozen elsewhere: freeze them with \`requires_grad_(False)\``,
  };
}

function ofChosen({ at, network }: Chosen): Finding {
  return {
    at,
    severity: "note",
    message: `Only some parameters of \`${network}\` are optimised; the others get gradients that nobody uses or clears, unless they are frozen elsewhere: freeze them with \`requires_grad_(False)\``,
  };
}

function ofSwitchedOn({ at, network }: Chosen): Finding {
  return {
    at,
    severity: "note",
    message: `All parameters of \`${network}\` require gradients from the start: this switches none of the others off, and each of theirs is computed and kept for nobody, unless they are frozen elsewhere`,
  };
}

function unwanted({ run, network }: Unwanted): Finding {
  return {
    at: run,
    severity: "note",
    message: `\`${network}\` does not learn from this loss, yet all its gradients are computed and stay until they are cleared; \`.detach()\` what it made, or \`requires_grad_(False)\` on it for this part`,
  };
}

function ofInput({ run, network, input }: LearningInput): Finding {
  return {
    at: run,
    severity: "note",
    message: `Only \`${input}\` learns from this loss, yet the parameters of \`${network}\` require gradients: each is computed and kept for nobody; \`requires_grad_(False)\` on it stops that`,
  };
}

function neverOff({ at, network }: { readonly at: Node; readonly network: string }): Finding {
  return {
    at,
    severity: "note",
    message: `\`${network}\` is switched on for its own step and never off: in the other network's step all its gradients are computed too, and stay until they are cleared`,
  };
}

/** In eval mode and in no optimizer, with what a trained network made as its input: gradients pass through it, and into it. */
function* evaluated(facts: Facts): Generator<Finding> {
  if (!facts.networks.someOnlyEvaluated) return;
  for (const call of facts.file.all("Call")) {
    const own = evaluatedRun(call, facts);
    // `decode(vae, latents)`, by a function of this file.
    const run = own ?? ranByHelper(call, (given) => facts.networks.isOnlyEvaluated(given), facts.file);
    if (!run || !(own ? facts.everyStep(call) : facts.hot(call)) || facts.gradMode(call) !== "on") continue;
    // Made by another network here, or handed in with its graph.
    if (
      !call.args.some(
        (arg) =>
          (arg.value !== run && comesFromNetwork(arg.value, run, facts)) ||
          (arg.value.kind === "Name" &&
            facts.file.scopes.reaching(arg.value).every(({ how }) => how === "param") &&
            facts.value(arg.value).graph === "yes"),
      )
    )
      continue;
    const name = facts.file.textOf(run);
    if (namedIn(name, facts) || isDetached(call, facts.file)) continue;
    // Handed back beside the loss, it may be differentiated by nobody.
    if (facts.guesses && !feedsBackward(call, facts)) continue;
    yield {
      at: call,
      // What others made to judge pictures with comes frozen, as a rule.
      ...(!own || /lpips|percept/i.test(name) ? { severity: "note" as const } : {}),
      message: `Gradients must pass through \`${name}\`, but its parameters still require their own: each is computed and kept for nobody; \`requires_grad_(False)\` on it stops that`,
    };
  }
}

/** The network in eval mode for good that a call runs, by itself or by one of its methods. */
function evaluatedRun(call: Call, facts: Facts): Expr | null {
  const { func } = call;
  if (func.kind !== "Name" && func.kind !== "Attribute") return null;
  if (facts.networks.isOnlyEvaluated(func)) return func;
  // `self.eval()` may be a trainer's own.
  return func.kind === "Attribute" && !isSelf(func.value) && facts.networks.isOnlyEvaluated(func.value)
    ? ranNetwork(call, facts)
    : null;
}

/** A part of a module, in eval mode from the start, through which its forward sends what it is given: a perceptual loss. */
function* parts(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const loops = new Set<Node>();
  for (const call of file.all("Call")) {
    const part = ownPart(call, facts);
    const cls = part === null ? null : classOf(call);
    if (!part || !cls || !isModuleRole(facts.role(cls)) || !facts.networks.isOnlyEvaluated(part)) continue;
    if (facts.gradMode(call) === "off" || !facts.hot(call)) continue;
    const detached = call.parent?.kind === "Attribute" && call.parent.attr === "detach";
    if (detached || freezesParts(cls, file)) continue;
    if (
      !call.args.some(
        (arg) =>
          derivesFromInput(arg.value, facts) ||
          (facts.role(cls) === "lightning" && comesFromNetwork(arg.value, call.func, facts)),
      )
    )
      continue;
    // Those that others made to judge pictures with freeze themselves.
    if (isOnlyMadeBy(part, file, (made) => /lpips/i.test(file.textOf(made)))) continue;
    // Its layers run one by one, on several inputs: said once.
    const loop = part === call.func ? null : loopsAround(call)[0];
    if (loop && loops.has(loop)) continue;
    if (loop) loops.add(loop);
    yield {
      at: call,
      severity: "note",
      message: `\`${file.textOf(part)}\` is in eval mode for good, yet its parameters still require gradients: where they pass through it, each of its own is computed too, unless it is frozen elsewhere`,
    };
  }
}

/** `target.requires_grad = False` of what a forward is given, or made, freezes no part. */
function freezesParts(cls: ClassDef, file: PythonFile): boolean {
  const code = file.codeOf(cls);
  if (!FREEZES.test(code)) return false;
  const inputs = file.assignsTo("requires_grad").flatMap(({ targets: [target] }) => {
    const of = target?.kind === "Attribute" ? target.value : null;
    const fn = of?.kind === "Name" && contains(cls, of) ? functionOf(of) : null;
    return of?.kind === "Name" &&
      fn?.kind === "FunctionDef" &&
      fn.name === "forward" &&
      file.scopes.reaching(of).every(({ how }) => how === "param" || how === "assign")
      ? [of.id]
      : [];
  });
  return FREEZES.test(
    inputs.length === 0
      ? code
      : code.replaceAll(
          new RegExp(`(?<![\\w.])(?:${inputs.join("|")})\\.requires_grad\\s*=\\s*False`, "g"),
          "",
        ),
  );
}

/** What runs a network for what it makes of its input. */
const GIVES_FEATURES =
  /^(?:forward|forward_features|extract_features|features|encode(?:_\w+)?|get_\w*features)$/;

/** `self.vgg` of `self.vgg(x)`, of `self.vgg.features(x)`, and of `for layer in self.vgg: x = layer(x)`. */
function ownPart({ func }: Call, { file }: Facts): Expr | null {
  if (func.kind === "Attribute" && selfAttribute(func) === null)
    return GIVES_FEATURES.test(func.attr) && selfAttribute(func.value) !== null ? func.value : null;
  if (func.kind === "Attribute") return func;
  if (func.kind !== "Name" || file.dotted(func) !== null) return null;
  const [one, ...more] = file.scopes.reaching(func);
  if (one?.how !== "iterate" || !one.value || more.length > 0) return null;
  let over = one.value;
  if (over.kind === "Call" && file.dotted(over.func) === "builtins.enumerate" && over.args[0])
    over = over.args[0].value;
  // `self.vgg.children()`, `self.vgg._modules.items()`, `self.vgg[:16]`
  while (selfAttribute(over) === null)
    if (over.kind === "Call") over = over.func;
    else if (over.kind === "Subscript" || (over.kind === "Attribute" && LAYERS_OF.test(over.attr)))
      over = over.value;
    else return null;
  return over;
}

const LAYERS_OF = /^(?:children|named_children|_modules|items|values|features|layers)$/;

const JUDGE = /Perceptual|VGG|^_?[Vv]gg|Style|Content|Lpips|LPIPS/;

const TRAINED_BY_OTHERS = /^(?:vgg\d+(?:_bn)?|alexnet|squeezenet1_[01])$/;

/** `class VGGLoss(nn.Module)`: a network others trained, to judge with, and nothing in the class keeps it from learning. */
function* perceptual(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.calls.matching(TRAINED_BY_OTHERS)) {
    const cls = classOf(call);
    if (
      !cls ||
      !JUDGE.test(cls.name) ||
      facts.role(cls) !== "module" ||
      !/^torchvision\.models\.\w+$/.test(file.dotted(call.func) ?? "") ||
      !call.args.some(({ name }) => name === "pretrained" || name === "weights") ||
      !isUnfrozen(cls, facts)
    )
      continue;
    // A loss, or what one is made of: cut into the stages that pictures are compared by.
    if (
      !/loss|lpips|percept/i.test(`${cls.name} ${file.path}`) &&
      !(facts.guesses && (STAGES.test(file.codeOf(cls)) || isExtractor(cls, facts)))
    )
      continue;
    yield {
      at: call,
      severity: "note",
      message: `\`${cls.name}\` judges by a network that others trained, whose parameters still require gradients: each is computed and kept for nobody, unless it is frozen elsewhere; \`requires_grad_(False)\` on it stops that`,
    };
  }
}

/** `self.slice1 = …` to `self.slice5`, of a network whose last layers are of no use. */
const STAGES = /\bself\.slice_?\d\s*=/;

/** `self.enc_1 = nn.Sequential(*vgg.features[:5])` of a class that is called after what it gives; what learns has layers of its own. */
function isExtractor(cls: ClassDef, { file }: Facts): boolean {
  const code = file.codeOf(cls);
  return (
    /Feature|Extract/.test(cls.name) &&
    /\bself\.[a-z]+_?\d\s*=\s*[\w.]*Sequential\(\s*\*[\w.]+\[\d*:\d+\]/.test(code) &&
    !/\b(?:Conv\dd|ConvTranspose\dd|Linear|LazyLinear)\(/.test(code)
  );
}

/** `requires_grad=False` among what it is made with, and `if not requires_grad:`: what is asked, and does nothing by itself. */
const ASKS =
  /(?<=\bdef __init__\([^)]*)\brequires_grad\s*(?::\s*bool\s*)?=\s*(?:True|False)|\bif (?:not )?requires_grad\s*:/g;

/** Nothing in the class, or beside it, keeps its parameters from requiring gradients. */
function isUnfrozen(cls: ClassDef, facts: Facts): boolean {
  const { file } = facts;
  const speaks = /requires_grad|freeze|no_grad|inference_mode/i.test(file.codeOf(cls).replaceAll(ASKS, ""));
  // Handed to what may freeze it, or read by an optimizer.
  return (
    (!speaks || isAskedNotTo(cls, file)) && !/requires_grad|freeze/i.test(besideOthers(cls, facts, false))
  );
}

/**
 * `if not requires_grad: …` around all that freezes, of `def __init__(self, requires_grad=False)`, where this file only makes
 * `Vgg(requires_grad=True)`.
 */
function isAskedNotTo(cls: ClassDef, file: PythonFile): boolean {
  const init = cls.body.find((member) => member.kind === "FunctionDef" && member.name === "__init__");
  if (init?.kind !== "FunctionDef" || /no_grad|inference_mode/.test(file.codeOf(cls))) return false;
  const at = init.params.findIndex(({ name }) => /requires_grad|trainable|freeze|frozen/.test(name));
  const flag = init.params[at];
  const freezing = file.assignsTo("requires_grad").filter((one) => contains(cls, one));
  if (!flag || freezing.length === 0 || /requires_grad_\(|freeze\w*\(/.test(file.codeOf(cls))) return false;
  // What keeps it from freezing: `if not requires_grad:` and `p.requires_grad = requires_grad` as much as `if freeze:`.
  const off = !/freeze|frozen/.test(flag.name);
  const isByFlag = (one: Node): boolean =>
    ancestors(one).some(
      (above) => above.kind === "If" && file.textOf(above.test) === (off ? `not ${flag.name}` : flag.name),
    );
  if (!freezing.every((one) => isByFlag(one) || (off && file.textOf(one.value) === flag.name))) return false;
  const made = file.callsNamed(cls.name).filter(({ func }) => file.dotted(func) === file.qualified(cls));
  const given = made.map((call) => argument(call, flag.name, at - 1) ?? flag.default);
  return (made.length > 0 ? given : [flag.default]).every((value) =>
    off ? isTrue(value ?? null) : isFalse(value ?? null),
  );
}

/** `vgg = vgg16(pretrained=True).eval()` of a training, through which it sends what its own network made. */
function* judging(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.calls.matching(TRAINED_BY_OTHERS)) {
    const statement = statementOf(call);
    const [target] = statement?.kind === "Assign" ? statement.targets : [];
    if (!target || !/^torchvision\.models\.\w+$/.test(file.dotted(call.func) ?? "")) continue;
    const runs =
      target.kind === "Name"
        ? runsOf(target, facts)
        : target.kind === "Attribute"
          ? runsOfAttribute(target, file)
          : null;
    // Asked for its parameters, or handed to others, it may be frozen, or learn.
    if (runs === null || runs.length === 0) continue;
    const name = file.textOf(target);
    if (new RegExp(`\\b${name.replaceAll(".", "\\.")}\\b[^\\n]*requires_grad`).test(file.code)) continue;
    if (runs.some((run) => facts.stepLoop(run) !== null && facts.gradMode(run) !== "off"))
      yield {
        at: call,
        severity: "note",
        message: `\`${name}\` was trained by others and is only judged with, yet its parameters require gradients: each is computed and kept for nobody; \`requires_grad_(False)\` on it stops that`,
      };
  }
}

/** The same, kept by a class that need be no loss: by a diffusion process, a trainer or an agent. */
function ownJudging(facts: Facts): readonly Finding[] {
  return [...ownJudges(facts)].map(({ made, network }) => ({
    at: made,
    severity: "note",
    message: `\`${network}\` was trained by others and is only compared by, yet its parameters require gradients: each is computed and kept for nobody, unless it is frozen elsewhere; \`requires_grad_(False)\` on it stops that`,
  }));
}

/** The runs of `args.vgg`, which is kept among the settings; null where it is asked for more than to run. */
function runsOfAttribute(target: Attribute, file: PythonFile): readonly Call[] | null {
  if (target.value.kind !== "Name" || isSelf(target.value)) return null;
  const runs: Call[] = [];
  for (const one of file.all("Attribute")) {
    if (one === target || file.textOf(one) !== file.textOf(target)) continue;
    const { parent } = one;
    if (parent?.kind === "Call" && parent.func === one) runs.push(parent);
    else if (parent?.kind !== "Attribute" || !/^(?:eval|to|cuda|half)$/.test(parent.attr)) return null;
  }
  return runs;
}

/** Not in the one optimizer whose parameters this function names, and nothing freezes it. */
function* leftOut(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const made of file.all("Call")) {
    if (!makesOptimizer(made, file)) continue;
    const source = parametersOf(made.args[0]?.value ?? null, facts.file);
    const fn = functionOf(made);
    if (!source) continue;
    const freezes = /requires_grad(?!=True)|freeze/.test(file.codeOf(fn ?? file.tree.module));
    const others = file
      .all("Call")
      .filter((call) => call !== made && functionOf(call) === fn && makesOptimizer(call, file));
    // `if args.sgd: opt = SGD(net.parameters())`, `else: opt = Adam(net.parameters())`: one of them.
    const either = others.map((other) =>
      isOtherBranch(made, other) ? parametersOf(other.args[0]?.value ?? null, facts.file) : null,
    );
    if (either.includes(null)) continue;
    const sources = [source, ...(either as Expr[])];
    for (const call of file.all("Call")) {
      if (
        functionOf(call) !== fn ||
        call.start < made.start ||
        !facts.stepLoop(call) ||
        facts.gradMode(call) !== "on"
      )
        continue;
      // `encode(text_encoder, captions)`, by a function of this file.
      const run = ranNetwork(call, facts) ?? ranByHelper(call, (given) => isNetwork(given, facts), file);
      if (!run || facts.networks.isLoss(run) || facts.networks.isFrozen(run) || !feedsBackward(call, facts))
        continue;
      if (isParameterless(run, file) || !hasParameters(run, facts)) continue;
      const callee = file.textOf(run);
      const optimised = file.textOf(source);
      const part =
        either.length === 0 && optimised.startsWith(`${callee}.`) && optimised !== `${callee}.module`;
      if (sources.some((one) => isWithin(callee, file.textOf(one)))) continue;
      if (!part && !isOwnNetwork(run, fn ?? file.tree.module, sources, facts)) continue;
      // Whether it is this one that is frozen is told by its name, of a part only by reading all of it.
      if (part && file.says(/requires_grad(?!=True)|freeze/)) continue;
      if (freezes && (namedIn(callee, facts) || isFrozenInTurn(callee, facts))) continue;
      yield {
        at: call,
        severity: "note",
        message: part
          ? `Only \`${optimised}\` is optimised; every other parameter of \`${callee}\` gets gradients that nobody uses or clears: freeze them with \`requires_grad_(False)\``
          : `\`${callee}\` is in no optimizer here, yet its graph is kept and its gradients are computed; run it under \`no_grad\`, or freeze it`,
      };
    }
  }
}

/** `net` and `net.head` of `net.parameters()`. */
function isWithin(callee: string, optimised: string): boolean {
  return callee === optimised || callee.startsWith(`${optimised}.`);
}

const ADAPTERS = /^\w*(?:LoRA|Lora|LyCORIS|Lycoris)\w*Network$/;

/** `network = LoRANetwork(unet, rank=4)`, by a class of one's own: what it is put around still requires gradients. */
function* underAdapters(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const isWhole = (value: Expr): boolean =>
    value.kind === "Name" &&
    (isNetwork(value, facts) || /^(?:\w+_)?(?:unet|transformer|model)$/.test(value.id));
  for (const call of file.calls.matching(ADAPTERS)) {
    const net = call.args.map(({ value }) => value).find(isWhole);
    const fn = functionOf(call);
    if (net?.kind !== "Name" || facts.networks.isFrozenByFlags(net)) continue;
    if (
      new RegExp(
        `\\b${net.id}\\.(?:requires_grad|parameters)|in ${net.id}\\.(?:named_)?parameters|(?:freeze|requires_grad)\\w*\\([^)\\n]*\\b${net.id}\\b`,
      ).test(file.codeOf(fn ?? file.tree.module))
    )
      continue;
    yield {
      at: call,
      severity: "note",
      message: `Only the adapters learn, yet the parameters of \`${net.id}\` still require gradients: each is computed and kept for nobody; \`requires_grad_(False)\` on it stops that`,
    };
  }
}

/** One part of a network in the program's only optimizer, the whole handed to what trains it, and nothing frozen anywhere. */
function* partsOptimised(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const made = torchOptimizers(file);
  const source = made.length === 1 ? parametersOf(made[0]!.args[0]?.value ?? null, facts.file) : null;
  const whole = source?.kind === "Attribute" || source?.kind === "Subscript" ? source.value : null;
  if (
    !source ||
    whole?.kind !== "Name" ||
    whole.id === "self" ||
    (source.kind === "Attribute" && source.attr === "module")
  )
    return;
  if (
    !isNetwork(whole, facts) ||
    /requires_grad|freeze|add_param_group|no_grad\(\)\s*:\s*\n[^\n]*(?:backbone|encoder|trunk)/.test(
      file.text,
    )
  )
    return;
  const handed = file
    .callsNamed(...new Set(file.all("FunctionDef").map(({ name }) => name)))
    .some(
      (call) =>
        functionOf(call) === functionOf(made[0]!) &&
        facts.callee(call)?.reachesBackward === true &&
        call.args.some(({ value }) => value.kind === "Name" && value.id === whole.id),
    );
  if (handed)
    yield {
      at: made[0]!.args[0]!.value,
      severity: "note",
      message: `Only \`${file.textOf(source)}\` is optimised; every other parameter of \`${whole.id}\` gets gradients that nobody uses or clears: freeze them with \`requires_grad_(False)\``,
    };
}

/** `self.policy_optimizer` has one part of a network, and its loss runs through the rest of that. */
function* besidePart(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const steps = optimizerSteps(file);
  for (const step of steps) {
    const fn = functionOf(step);
    const receiver = step.func.kind === "Attribute" ? step.func.value : null;
    const name = receiver ? selfAttribute(receiver) : null;
    const cls = name === null ? null : classOf(step);
    if (!cls || fn?.kind !== "FunctionDef" || /requires_grad|freeze|track_\w*grad/.test(file.codeOf(fn)))
      continue;
    const [write, ...more] = attributesOf(cls, file).get(name!)?.writes ?? [];
    const made = more.length === 0 && write?.value?.kind === "Call" ? write.value : null;
    if (!made || !/^torch\.optim\.[A-Z]\w*$/.test(file.dotted(made.func) ?? "")) continue;
    const part = parametersOf(made.args[0]?.value ?? null, facts.file);
    if (part?.kind !== "Attribute" || part.attr === "module" || selfAttribute(part.value) === null) continue;
    if (steps.some((one) => one !== step && functionOf(one) === fn)) continue;
    const whole = file.textOf(part.value);
    const own = part.attr.replace(/^_+/, "");
    const beside = file
      .all("Call")
      .find(
        ({ func, start }, at, all) =>
          func.kind === "Attribute" &&
          start < step.start &&
          functionOf(func) === fn &&
          file.textOf(func.value) === whole &&
          func.attr.replace(/^_+/, "") !== own &&
          feedsBackward(all[at]!, facts),
      );
    if (beside)
      yield {
        at: beside,
        severity: "note",
        message: `Only \`${file.textOf(part)}\` learns from this loss; what else of \`${whole}\` it runs through gets gradients that nobody uses until they are cleared: \`requires_grad_(False)\` on that, for this part`,
      };
  }
}

import { argument, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef, If, Name, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { isLikelyOften } from "../facts/likely-often.ts";
import { isFactory } from "../facts/keepers.ts";
import { handedIn } from "../facts/handed-in.ts";
import { attributesOf, isModuleRole, isOnlyMadeBy, isSelf, selfAttribute } from "../facts/classes.ts";
import { handedOut, holdsUnseen, isLeftBehind, takenOutOf } from "../facts/unseen-parameters.ts";
import type { Finding, Rule } from "../rule.ts";
import { behindViews } from "../facts/own-views.ts";
import { isMatrix, isMultiplied, isLarge, isOwnWeight } from "../facts/own-weights.ts";

export const rule: Rule = {
  meta: {
    code: "PLM036",
    name: "parameter-moved-every-forward",
    summary: "A module's own parameter is sent `.to()` a device, or cast to another type, in every forward",
    severity: "note",
    fix: "none",
    patterns: [36],
  },
  *check(facts) {
    for (const found of findings(facts))
      if (!facts.guesses || isLikelyOften(found.at as Node, facts, false)) yield found;
  },
};

function* findings(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("to", "cuda", "cpu", "type_as", "type", ...CASTS)) {
    if (call.func.kind !== "Attribute") continue;
    const cast = castOf(call, facts);
    if (cast !== null) {
      yield {
        at: call,
        message:
          cast === "fixed"
            ? "The same parameter is cast anew in every forward, and the copy stays until the backward; keep it in that type, or let autocast cast it"
            : cast === "wide"
              ? "The weight is cast to float32 in every forward: free when it is float32, and otherwise a copy of twice its size that stays until the backward; cast the input to its type, or the layer once"
              : "The parameter is cast to the type of the input in every forward: free when it has that type, and otherwise a copy that stays until the backward; cast the module once, or let autocast do it",
      };
      continue;
    }
    if (!/^(?:to|cuda|cpu|type_as)$/.test(call.func.attr)) continue;
    if (isFetched(call, facts)) {
      yield {
        at: call,
        message:
          "The module fetches its own parameter to the host in every forward, which waits for the device; compute there what needs it",
      };
      continue;
    }
    if (call.func.attr === "cpu") continue;
    if (isNetworkMoved(call, facts)) {
      yield {
        at: call,
        message:
          "The network is moved on every step: all its parameters are walked on the host to find that they are there already; move it once, before the loop",
      };
      continue;
    }
    if (isWeightFetched(call, facts)) {
      yield {
        at: call,
        message:
          "The weight of a network is sent to the device on every step: free when it is there already, and otherwise a copy each time, for which the step waits; move the network, or the weight, once",
      };
      continue;
    }
    if (facts.guesses && isLikelyMoved(call, facts)) {
      yield {
        at: call,
        message:
          "What learns is moved in every step: free when it is there already, and otherwise a copy each time; move the network once",
      };
      continue;
    }
    if (!isOwn(call.func.value, facts) && !isViewOfOwn(call.func.value, facts)) continue;
    const device = call.func.attr === "to" ? argument(call, "device", 0) : null;
    const moves =
      call.func.attr !== "to" ||
      (device?.kind === "Attribute" && device.attr === "device") ||
      (device?.kind === "Name" && !/dtype/.test(device.id) && isGiven(device, facts));
    if (!moves) continue;
    const cls = classOf(call);
    if (!cls || !/^(?:module|lightning)$/.test(facts.role(cls))) continue;
    const hot =
      facts.hot(call) ?? (takesTensor(call, facts) || isOfMessages(call, cls) ? { within: call } : null);
    if (hot)
      yield {
        at: call,
        message: isLeftBehind(call.func.value, facts.file)
          ? "The parameter lies where the module does not see it, so that it stays behind when the module is moved, and every forward copies it; keep it in `nn.ParameterList` or `nn.ParameterDict`"
          : "The module moves its own parameter in every forward: free when it is there already, a copy each time when it is not; move the module once",
      };
  }
}

/** `self.conv.weight.squeeze()`, `self.places[:, :n]`, or a name for one of these: what is behind it is a parameter. */
function isViewOfOwn(expr: Expr, facts: Facts): boolean {
  const behind = behindViews(expr, facts.file);
  return (
    behind !== null && behind !== expr && (isOwnWeight(behind, facts) || isParameterOrModule(behind, facts))
  );
}

/** `torch.logdet(self.weight.cpu())` in a forward, in a program that has its networks on a device. */
function isFetched(call: Call, facts: Facts): boolean {
  const { func } = call;
  const cls = classOf(call);
  if (func.kind !== "Attribute" || func.attr === "cuda" || func.attr === "type_as" || !cls) return false;
  if (func.attr === "to" && facts.device(argument(call, "device", 0)) !== "cpu") return false;
  // Cut off from its graph it is read to look at, which is told of as a read.
  if (/\.(?:detach\(\)|data)$/.test(facts.file.textOf(func.value))) return false;
  if (!isModuleRole(facts.role(cls)) || facts.project.accelerated.size === 0) return false;
  return (
    (isOwnWeight(func.value, facts) || isViewOfOwn(func.value, facts)) &&
    (facts.everyStep(call) !== null ||
      (facts.guesses && isUnknown(call, facts) && isLikelyOften(call, facts, false) && !isInReverse(call)))
  );
}

/** `if reverse:` of a flow: only who draws from it. */
function isInReverse(call: Call): boolean {
  return ancestors(call).some(
    (at) =>
      at.kind === "If" &&
      /revers|invers|sampl|generat|infer|eval|test|export/i.test(lastWord(at.test)) &&
      at.body.some((one) => contains(one, call)),
  );
}

/** `self.attend = self.attend.to(x.device)`, `net.head.weight.cuda()`, `p.to(device)` of each `p` in `net.parameters()`. */
function isLikelyMoved(call: Call, facts: Facts): boolean {
  const { func } = call;
  if (func.kind !== "Attribute" || func.attr === "type_as") return false;
  const to = argument(call, "device", 0);
  if (func.attr === "to" && !(to && /(?:^|_)(?:dev|device|gpu|cuda|rank)\w*$/i.test(lastWord(to))))
    return false;
  if (facts.device(to) === "cpu" || !isLikelyLearning(func.value, facts)) return false;
  const fn = functionOf(call);
  if (
    fn?.kind === "FunctionDef" &&
    /init|setup|build|load|save|offload|place|cuda|device|sample|generate/i.test(fn.name)
  )
    return false;
  // What learns is asked for in steps, whoever asks: `loss = model.temperature() * gap`.
  const own = selfAttribute(func.value);
  const cls = own === null ? null : classOf(call);
  const isLeaf =
    cls !== null &&
    isModuleRole(facts.role(cls)) &&
    facts.hot(call) === null &&
    (attributesOf(cls, facts.file).get(own!)?.writes ?? []).some(
      ({ value }) => value?.kind === "Call" && isLeafOf(cls, own!, value, facts.file),
    );
  if (!isLeaf && !facts.everyStep(call)) return false;
  const text = facts.file.textOf(func.value);
  return !facts.file
    .callsNamed("to", "cpu")
    .some(
      (other) =>
        other !== call &&
        other.func.kind === "Attribute" &&
        facts.file.textOf(other.func.value) === text &&
        (other.func.attr === "cpu" || facts.device(argument(other, "device", 0)) === "cpu"),
    );
}

function isLikelyLearning(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (expr.kind === "Attribute" && /^(?:weight|bias)$/.test(expr.attr)) return true;
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls)
    return (attributesOf(cls, file).get(own!)?.writes ?? []).some(
      ({ value, in: method }) =>
        method.name === "__init__" &&
        value?.kind === "Call" &&
        (isLeafOf(cls, own!, value, file) ||
          /^torch\.nn\.(?:parameter\.)?[A-Z](?!\w*Loss)/.test(file.dotted(value.func) ?? "") ||
          (facts.value(value).what === "module" && !/loss|criterion/i.test(own!))),
    );
  if (expr.kind !== "Name") return false;
  const [one] = file.scopes.reaching(expr);
  return one?.how === "iterate" && one.value !== null && /parameters\(\)/.test(file.textOf(one.value));
}

/** `self.log_alpha = torch.tensor(0.1)`, and `self.log_alpha.requires_grad = True`: no parameter, so that no module moves it. */
function isLeafOf(cls: ClassDef, own: string, made: Call, file: PythonFile): boolean {
  if (!/^torch\.(?:tensor|zeros|ones|full|rand|randn|FloatTensor)$/.test(file.dotted(made.func) ?? ""))
    return false;
  const asked = keyword(made, "requires_grad");
  if (asked) return isTrue(asked.value);
  return new RegExp(String.raw`\bself\.${own}\.requires_grad(?:_\(\s*(?:True)?\s*\)| = True)`).test(
    file.codeOf(cls),
  );
}

const CASTS = ["half", "bfloat16", "double", "float"];

/** By its form alone, before what costs more: an attribute, also by its name, or what a function is given. */
function mayBeWeight(expr: Expr, { file }: Facts): boolean {
  if (expr.kind === "Subscript" || expr.kind === "Call") return behindViews(expr, file) !== null;
  if (expr.kind !== "Name") return expr.kind === "Attribute";
  return (
    file.scopes.reaching(expr).some(({ how, value }) => how === "param" || value?.kind === "Attribute") ||
    behindViews(expr, file) !== null
  );
}

const isOfDevice = (expr: Expr | null): boolean => expr?.kind === "Attribute" && expr.attr === "device";

/** `self.proj.weight.to(torch.bfloat16)` in a forward, or `.to(x.dtype)`. */
function castOf(call: Call, facts: Facts): "fixed" | "wide" | "of input" | null {
  const { func } = call;
  if (func.kind !== "Attribute" || !mayBeWeight(func.value, facts)) return null;
  const named = /^(?:to|type)$/.test(func.attr);
  // `.to(x.device, x.dtype)`
  const asked = named ? argument(call, "dtype", isOfDevice(positional(call, 0)) ? 1 : 0) : null;
  // `dtype = x.dtype`
  const type = (asked?.kind === "Name" ? facts.file.scopes.onlyValue(asked) : null) ?? asked;
  const fixed = named
    ? type !== null && /^torch\.(?:half|float16|bfloat16|double|float64)$/.test(facts.file.dotted(type) ?? "")
    : /^(?:half|bfloat16|double)$/.test(func.attr) && call.args.length === 0;
  const wide =
    (named
      ? type !== null && /^torch\.float(?:32)?$/.test(facts.file.dotted(type) ?? "")
      : func.attr === "float" && call.args.length === 0) &&
    (isMatrix(func.value, facts) || isInnerMatrix(call, facts) || isMatrixOfNetwork(call, facts)) &&
    (selfAttribute(func.value) === null || isUsedAsItIs(call, facts));
  // `.to(x.dtype)`, `.type(x.type())`
  const of = type?.kind === "Call" && type.args.length === 0 ? type.func : type;
  const given =
    named &&
    of?.kind === "Attribute" &&
    of.attr === (of === type ? "dtype" : "type") &&
    (of !== type || func.attr === "to") &&
    facts.value(of.value).what !== "module";
  if (!fixed && !wide && !given) return null;
  const cls = classOf(call);
  const owned =
    cls !== null &&
    /^(?:module|lightning)$/.test(facts.role(cls)) &&
    (isOwnWeight(func.value, facts) ||
      isInnerMatrix(call, facts) ||
      (!wide && isViewOfOwn(func.value, facts)));
  const often =
    facts.everyStep(call) !== null ||
    isForLowPrecision(call, facts) ||
    isForItsKind(call, facts) ||
    isOfExtended(call, facts) ||
    (facts.guesses && isUnknown(call, facts) && isLikelyOften(call, facts, false));
  const casts = (often && (owned || isMatrixOfNetwork(call, facts))) || isOfHelper(func.value, facts);
  return !casts ? null : fixed ? "fixed" : wide ? "wide" : "of input";
}

/**
 * `def like(weight, x): return weight.to(x.dtype)`, which forwards of this file give a parameter of their own, and
 * `def project(layer, x): return F.linear(x, layer.weight.half())`, which they give a layer.
 */
function isOfHelper(cast: Expr, facts: Facts): boolean {
  const { file } = facts;
  const layer = cast.kind === "Attribute" && cast.attr === "weight" ? cast.value : null;
  const asked = layer ?? cast;
  const [given, ...more] = asked.kind === "Name" ? file.scopes.reaching(asked) : [];
  if (!given || more.length > 0) return false;
  return handedIn(given, file, true).some((handed) => {
    const cls = classOf(handed);
    return (
      cls !== null &&
      /^(?:module|lightning)$/.test(facts.role(cls)) &&
      (layer ? isOnlyMadeBy(handed, file, (made) => isLarge(made, facts)) : isOwnWeight(handed, facts)) &&
      facts.everyStep(handed) !== null
    );
  });
}

/** Under a condition in what runs every step. */
function isUnknown(call: Call, facts: Facts): boolean {
  const hot = facts.hot(call);
  return hot !== null && facts.frequency(call, hot.within) === "unknown";
}

/** `if self.fp16:` in a forward, or `w.half() if self.fp16 else w`: whatever its default, who trains in low precision sets it. */
function isForLowPrecision(call: Call, facts: Facts): boolean {
  const hot = facts.hot(call);
  return (
    hot !== null &&
    isUnknown(call, facts) &&
    ancestors(call).some((at) => {
      if ((at.kind !== "If" && at.kind !== "IfExp") || !contains(hot.within, at)) return false;
      const chosen = at.kind === "If" ? at.body : [at.body];
      const switched = chosen.some((one) => contains(one, call)) ? selfAttribute(at.test) : null;
      return switched !== null && /fp16|bf16|half|amp|mixed|precision/i.test(switched);
    })
  );
}

/**
 * `if not self.merged and self.has_adapter():` in a forward: what asks the layer alone, and not whether it trains, is answered
 * alike in every step.
 */
function isForItsKind(call: Call, facts: Facts): boolean {
  const hot = facts.hot(call);
  if (hot === null || !isUnknown(call, facts)) return false;
  const tests = ancestors(call).filter(
    (at): at is If =>
      at.kind === "If" && contains(hot.within, at) && at.body.some((one) => contains(one, call)),
  );
  const left = leftBefore(call);
  return (
    tests.length + left.length > 0 &&
    tests.every(({ test }) => asksSelf(test)) &&
    left.every(({ test }) => comparesOwn(test))
  );
}

/**
 * `def attend(self, q, k): y = super().attend(q, k)`, then `self.gate.to(y.dtype) * y`: what a layer adds to a method of the one
 * it is made of is done wherever that has it called, in another file.
 */
function isOfExtended(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  const asked = argument(call, "dtype", 0);
  const of = asked?.kind === "Attribute" ? asked.value : null;
  return (
    fn?.kind === "FunctionDef" &&
    fn.parent?.kind === "ClassDef" &&
    of?.kind === "Name" &&
    isGivenOrMade(of, fn, facts) &&
    !/^_*(?:init|reset|load|save|state|merge|generate)/.test(fn.name) &&
    facts.file
      .callsNamed(fn.name)
      .some((one) => functionOf(one) === fn && isSuper(one.func, facts.file) && one.args.length > 0) &&
    ancestors(call).every((at) => at.kind !== "If" || !contains(fn, at)) &&
    leftBefore(call).every(({ test }) => comparesOwn(test))
  );
}

/** A parameter of the method, or what a call there made of its parameters. */
function isGivenOrMade(name: Name, fn: FunctionDef, { file }: Facts): boolean {
  return file.scopes
    .reaching(name)
    .some(({ how, value, node }) =>
      how === "param"
        ? node.parent === fn
        : how === "assign" &&
          value?.kind === "Call" &&
          value.args.some((arg) => fn.params.some((param) => param.name === lastWord(arg.value))),
    );
}

/** `super().attend` */
function isSuper(func: Expr, file: PythonFile): boolean {
  return (
    func.kind === "Attribute" &&
    func.value.kind === "Call" &&
    file.dotted(func.value.func) === "builtins.super"
  );
}

/** `if self.index < self.config.first: return y` above, in the same function. */
function leftBefore(call: Call): readonly If[] {
  const fn = functionOf(call);
  return (fn?.kind === "FunctionDef" ? fn.body : []).filter(
    (one): one is If => one.kind === "If" && one.end < call.start && one.body.at(-1)?.kind === "Return",
  );
}

/** Two settings of its own, held against each other: which of the layers it is. */
function comparesOwn(test: Expr): boolean {
  const isOwnSetting = (expr: Expr): boolean =>
    selfAttribute(expr) !== null ||
    (expr.kind === "Attribute" && isOwnSetting(expr.value)) ||
    expr.kind === "Num";
  return (
    test.kind === "Compare" &&
    /^[<>=!]=?$/.test(test.ops[0]!) &&
    [test.left, ...test.rights].every(isOwnSetting)
  );
}

/** A setting by itself may be off unless somebody asks for it. */
function asksSelf(test: Expr, denied = false): boolean {
  if (test.kind === "Bool") return test.op === "and" && test.values.every((one) => asksSelf(one, denied));
  if (test.kind === "Unary") return test.op === "not" && asksSelf(test.operand, true);
  // `isinstance(self.down, nn.Linear)`
  if (test.kind === "Call" && test.func.kind === "Name" && test.func.id === "isinstance")
    return test.args[0] !== undefined && selfAttribute(test.args[0].value) !== null;
  const isAsked = test.kind === "Call" && test.args.length === 0;
  const asked = isAsked || denied ? selfAttribute(isAsked ? test.func : test) : null;
  return asked !== null && !/train|eval|infer|debug|test/i.test(asked);
}

/**
 * `F.linear(x, self[0].weight.float())` of a class of `nn.Sequential`, `x @ self.base.head.weight.half().t()`: whoever made the
 * layer inside, what a matrix product takes from it is a matrix.
 */
function isInnerMatrix(cast: Call, { file }: Facts): boolean {
  const layer = layerOf(cast);
  return layer !== null && !isSelf(layer) && isSelf(rootOf(layer, file)) && isMatrixFrom(layer, cast, file);
}

/** `hidden.float() @ model.lm_head.weight.float().t()` of a step that computes the logits itself. */
function isMatrixOfNetwork(cast: Call, facts: Facts): boolean {
  const { file, networks } = facts;
  const layer = layerOf(cast);
  const root = layer === null ? null : rootOf(layer, file);
  return (
    root !== null &&
    root !== layer &&
    (networks.is(root) || facts.value(root).what === "module") &&
    isMatrixFrom(layer!, cast, file)
  );
}

/** `features @ teacher.head.weight.to(features.device).t()` in a training loop, of a network that was not brought there whole. */
function isWeightFetched(call: Call, facts: Facts): boolean {
  const { func } = call;
  const sent = func.kind === "Attribute" && layerOf(call) && func.attr !== "type_as" ? func.attr : null;
  const device = sent === "to" ? argument(call, "device", 0) : null;
  const isSent =
    sent === "cuda" ||
    (device !== null &&
      (facts.isAccelerator(facts.device(device)) ||
        (device.kind === "Attribute" && device.attr === "device")));
  return isSent && isMatrixOfNetwork(call, facts) && facts.everyStep(call) !== null;
}

function isMatrixFrom(layer: Expr, cast: Call, file: PythonFile): boolean {
  return (
    !/gate|rout|expert/i.test(`${classOf(cast)?.name} ${file.textOf(layer)}`) && isMultiplied(cast, file)
  );
}

/** What `layer.weight.float()` casts the weight of. */
function layerOf({ func }: Call): Expr | null {
  const weight = func.kind === "Attribute" ? func.value : null;
  return weight?.kind === "Attribute" && weight.attr === "weight" ? weight.value : null;
}

/**
 * What holds a layer in the end: self of `self.base.head`, of `lin` in `for lin in self.lins`, and of `head` after
 * `head = self.base.get_output_embeddings()`.
 */
function rootOf(layer: Expr, file: PythonFile, depth = 0): Expr {
  let root = layer;
  for (;;)
    if (root.kind === "Attribute" || root.kind === "Subscript") root = root.value;
    else if (root.kind === "Call" && root.func.kind === "Attribute" && root.args.length === 0)
      root = root.func.value;
    else break;
  const [made, ...more] = root.kind === "Name" && depth < 3 ? file.scopes.reaching(root) : [];
  if (!made?.value || more.length > 0 || !/^(?:iterate|assign)$/.test(made.how)) return root;
  const { value } = made;
  // A network that is made here holds its layers itself.
  const isMade = value.kind === "Call" && (value.args.length > 0 || value.func.kind !== "Attribute");
  return isMade && made.how === "assign" ? root : rootOf(handedOut(value), file, depth + 1);
}

/**
 * `self.table.float()[places]`, `F.linear(x, self.weight.float())`; what is normalized first is cast for that, on purpose, and
 * another library's kernel may know no other type.
 */
function isUsedAsItIs({ parent }: Call, { file }: Facts): boolean {
  const user = parent?.kind === "Arg" ? parent.parent : parent;
  return user?.kind === "Call"
    ? /^torch\.(?!.*norm)/i.test(file.dotted(user.func) ?? "")
    : user?.kind === "Subscript" || user?.kind === "Binary";
}

/** What `propagate` of a message-passing layer calls. */
function isOfMessages(call: Call, cls: ClassDef): boolean {
  const fn = functionOf(call);
  return (
    fn?.kind === "FunctionDef" &&
    /^(?:message|update|aggregate|edge_update)$/.test(fn.name) &&
    cls.args.some(({ value }) => lastWord(value) === "MessagePassing")
  );
}

/** `net.to(device)` in the loop that trains it; one that is sent away in between has to come back. */
function isNetworkMoved(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const moved = call.func.kind === "Attribute" ? call.func.value : null;
  const loop = facts.stepLoop(call);
  if (!moved || !loop || !facts.networks.is(moved) || facts.everyStep(call) === null) return false;
  if (
    call.func.kind === "Attribute" &&
    call.func.attr === "to" &&
    !facts.isAccelerator(facts.device(argument(call, "device", 0)))
  )
    return false;
  const text = file.textOf(moved);
  return !file
    .callsNamed("to", "cpu")
    .some(
      (other) =>
        other !== call &&
        contains(loop, other) &&
        other.func.kind === "Attribute" &&
        file.textOf(other.func.value) === text,
    );
}

/** Handed in: `weight.to(x)`, `weight.to(device)`. */
function isGiven(name: Name, facts: Facts): boolean {
  const { what } = facts.value(name);
  return (
    what === "tensor" || what === "output" || facts.isAccelerator(facts.device(name)) || name.id === "device"
  );
}

/** `self.scale = torch.ones(1, width)`: no parameter, whatever its name. */
function isPlainTensor(expr: Expr, facts: Facts): boolean {
  const cls = classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(selfAttribute(expr)!)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(({ how, value }) => {
      const made = value?.kind === "Name" ? facts.file.scopes.onlyValue(value) : value;
      return how === "assign" && made !== null && isFactory(made);
    })
  );
}

/** `self.weight`, or `params.weight` with `params` taken from the module. */
function isOwn(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  // `self.gamma.to(x.dtype).to(x.device)`
  if (expr.kind === "Call")
    return (
      expr.func.kind === "Attribute" &&
      /^(?:to|type|float|half)$/.test(expr.func.attr) &&
      isOwn(expr.func.value, facts, depth)
    );
  if (selfAttribute(expr) !== null)
    return (
      depth > 0 ||
      isParameterOrModule(expr, facts) ||
      (/^(?:weight|bias|sigma|scale|scaling|gamma|beta|alpha|lora_\w+|\w*_weight|\w*_bias)$/.test(
        selfAttribute(expr)!,
      ) &&
        !isPlainTensor(expr, facts))
    );
  if (expr.kind === "Attribute")
    return (
      /^(?:weight|bias|sigma|scale|gamma|beta|alpha)$/.test(expr.attr) && isOwn(expr.value, facts, depth + 1)
    );
  if (expr.kind === "Subscript")
    return depth > 0 ? isOwn(expr.value, facts, depth + 1) : isParameterOrModule(expr.value, facts);
  if (expr.kind !== "Name") return false;
  const [one, ...more] = facts.file.scopes.reaching(expr);
  if (more.length > 0) return false;
  // `def _beside(self, weight, x)`, of which every call of the class hands in a parameter.
  if (one?.how === "param") {
    const cls = depth === 0 ? classOf(expr) : null;
    if (!cls || !/^(?:module|lightning)$/.test(facts.role(cls))) return false;
    const handed = handedIn(one, facts.file, true);
    return handed.length > 0 && handed.every((value) => isParameterOrModule(value, facts));
  }
  if (!one?.value) return false;
  // `for block in self.blocks: block.to(x.device)`
  if (one.how === "iterate") {
    const from = takenOutOf(one);
    return from !== null && isParameterOrModule(from === one.value ? handedOut(from) : from, facts);
  }
  // `head = self.heads[task]`
  if (depth === 0)
    return (
      one.how === "assign" && one.value.kind !== "Call" && isParameterOrModule(handedOut(one.value), facts)
    );
  return one.how === "assign" && isOwn(one.value, facts, depth + 1);
}

/** Written as `nn.Parameter(…)` or a layer: it moves with the module. */
function isParameterOrModule(expr: Expr, facts: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  return (
    isOnlyMadeBy(expr, facts.file, (made) => moves(made, facts)) ||
    holdsUnseen(expr, facts.file) ||
    // `nn.Parameter(torch.tensor(temp)) if learnable`, and otherwise the number itself.
    (writes.some(({ value }) => value?.kind === "Call" && moves(value, facts)) &&
      writes.every(({ value }) => value?.kind === "Name" || (value?.kind === "Call" && moves(value, facts))))
  );
}

function moves(made: Call, facts: Facts): boolean {
  return (
    /^torch\.nn\.(?:parameter\.)?Parameter(?:Dict|List)?$/.test(facts.file.dotted(made.func) ?? "") ||
    facts.value(made).what === "module"
  );
}

/** A method that is given tensors is part of the forward, whoever calls it. */
function takesTensor(call: Expr, facts: Facts): boolean {
  const device = (call.kind === "Call" && argument(call, "device", 0)) || null;
  return (
    device?.kind === "Attribute" &&
    device.value.kind === "Name" &&
    facts.file.scopes.reaching(device.value).some((one) => one.how === "param") &&
    facts.value(device.value).what === "tensor"
  );
}

import { argument, isNone, positional } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Assign, Call, ClassDef, Expr, FunctionDef, If, Node, Param } from "../../python/tree.ts";
import { handedIn } from "../facts/handed-in.ts";
import { attributesOf, isModuleRole, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Attribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isLikelyOften } from "../facts/likely-often.ts";
import { derivesFromInput } from "../facts/flow.ts";
import { VARIABLE } from "../facts/torch-names.ts";
import type { Finding, Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM042",
    name: "constant-moved-in-forward",
    summary: "A tensor kept as a plain attribute is copied to the device in every forward",
    severity: "warning",
    fix: "unsafe",
    patterns: [42],
  },
  *check(facts) {
    if (facts.guesses && isExporting(facts)) return;
    for (const found of findings(facts))
      if (
        !facts.guesses ||
        (isLikelyOften(found.at as Node, facts) && !isUnderOwnFlag(found.at as Node, facts))
      )
        yield found;
  },
};

/** A script that traces or exports a network runs it once. */
function isExporting({ backwards, file }: Facts): boolean {
  return backwards.length === 0 && file.says(/\bjit\.(?:trace|save)\b|\bonnx\.export\b/);
}

/** `if self.first: self.table = self.table.to(x.device); self.first = False` */
function isUnderOwnFlag(node: Node, { file }: Facts): boolean {
  for (let at = node.parent; at && at.kind !== "FunctionDef"; at = at.parent) {
    if (at.kind !== "If") continue;
    const { body, test } = at;
    const flag = test.kind === "Unary" && test.op === "not" ? test.operand : test;
    if (
      selfAttribute(flag) !== null &&
      body.some(
        (one) =>
          one.kind === "Assign" &&
          one.value.kind === "Const" &&
          one.targets.some((target) => file.textOf(target) === file.textOf(flag)),
      )
    )
      return true;
  }
  return false;
}

function* findings(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("to", "cuda", "type_as")) {
    if (call.func.kind !== "Attribute" || !/^(?:to|cuda|type_as)$/.test(call.func.attr)) continue;
    if (facts.guesses && isLikelyConstant(call, facts)) {
      yield {
        at: call,
        message: `\`${facts.file.textOf(root(call.func.value))}\` is set once and sent to the device in every step: where it stays on the host each of them copies it, and waits; make it a buffer, or send it once`,
      };
      continue;
    }
    const moved = root(listed(root(unwrapped(call.func.value, facts)), facts));
    const held =
      underName(moved, facts) ??
      lookedUp(moved, facts) ??
      handedBack(moved, facts) ??
      oneOfTwo(moved, facts) ??
      (selfAttribute(moved) === null ? (handedOn(moved, facts) ?? ofAnother(moved, facts)) : moved);
    const attribute = held && selfAttribute(held);
    const cls = held && classOf(held);
    if (!cls || !/^(?:module|lightning|other)$/.test(facts.role(cls))) continue;
    const arg = argument(call, "device", 0);
    const often = facts.everyStep(alwaysAway(call, attribute!) ?? call) !== null;
    if (!often && !(facts.role(cls) === "module" && isOfComputation(call, arg, facts))) continue;
    // A dtype is no transfer; what cannot be told from one is not reported.
    if (
      call.func.attr !== "cuda" &&
      !(
        arg &&
        (facts.isAccelerator(facts.device(arg)) ||
          isDeviceOf(arg) ||
          isHandedDevice(arg, facts) ||
          (arg.kind === "Name" && derivesFromInput(arg, facts) && !/dtype|device/.test(arg.id)))
      )
    )
      continue;
    // Of what is no module: the rows of a buffer that were drawn for this step.
    if (facts.role(cls) === "other" && isDrawn(madeAs(call.func.value, facts))) continue;
    const all = attributesOf(cls, facts.file).get(attribute!)?.writes ?? [];
    const writes = lastOf(withoutRepeats(all, facts));
    // `self.x = self.x.to(device)` copies once and keeps the copy.
    const rebinds =
      call.parent?.kind === "Assign" &&
      call.parent.targets.some((target) => selfAttribute(target) === attribute);
    const made = rebinds ? writes.filter(({ value }) => value !== call) : writes;
    const module = facts.role(cls) !== "other";
    const onHost = made.length > 0 && made.every((write) => isOnHost(write, facts));
    if (
      !onHost &&
      !(
        module &&
        (isDeviceOf(arg) || isHandedDevice(arg, facts)) &&
        made.every((one) => isLeft(one, facts)) &&
        made.some(({ value }) => value !== null && !isNone(value))
      )
    )
      continue;
    const whole = made[0]!.value !== null && facts.value(made[0]!.value).what === "tensor";
    // A buffer of that name cannot be registered over another attribute.
    const alone = made.length === 1 && all.length === writes.length;
    // Of another's, several may tell.
    const another = moved.kind === "Attribute" && selfAttribute(moved) === null;
    const fix = alone && module && whole && !another ? asBuffer(made[0]!.target.parent, attribute!) : null;
    const name = another ? facts.file.textOf(moved) : `self.${attribute}`;
    yield {
      at: call,
      // Of a layer, another one may have been handed in.
      ...(rebinds || !onHost || !often || moved.kind === "Call" || writes.length < all.length
        ? { severity: "note" as const }
        : {}),
      message: !onHost
        ? `\`${name}\` does not move with the module: every forward looks whether it has to be copied, and copies it where the module went elsewhere; register it as a buffer`
        : rebinds
          ? `\`${name}\` does not move with the module, so that every forward must look whether it has to; register it as a buffer`
          : module
            ? `\`${name}\` stays on the host when the module moves: every forward copies it again, and waits; register it as a buffer`
            : `\`${name}\` stays on the host: every call copies it again, and waits; make it on the device`,
      ...(fix ? { fix } : {}),
    };
  }
}

/** What a tensor that is made once and kept is called. */
const CONSTANTS =
  /^_?(?:\w+_)?(?:betas?|alphas?(?:_\w+)?|sigmas|schedule|(?:class_)?weights?|freqs?(?:_cis)?|inv_freq|tables?|anchors?|grids?|priors?|means?|stds?|pe|pos_enc\w*|encoding|window|kernel|mel_basis|fbank|filters?|basis|bins|coeffs?|prototypes|centers|vocab_mask|causal\w*|tril|mask|support|atoms|quantiles|taus|scales|offsets|strides|margins?|lut|palette)$/;

/** `self.betas[t].to(x.device)`, `schedule.alphas_cumprod.to(device)`, by what is sent; a class that has it in its hands made it itself. */
function isLikelyConstant(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const { func } = call;
  if (func.kind !== "Attribute") return false;
  const kept = root(func.value);
  if (kept.kind !== "Attribute" || file.dotted(kept) !== null) return false;
  const to = argument(call, "device", 0);
  if (
    func.attr !== "cuda" &&
    !(to && (isDeviceOf(to) || /(?:^|_)(?:dev|device|gpu)\w*$/i.test(lastWord(to))))
  )
    if (func.attr !== "type_as") return false;
  if (
    facts.device(to) === "cpu" ||
    (call.parent?.kind === "Assign" &&
      call.parent.targets.some((one) => file.textOf(one) === file.textOf(kept)))
  )
    return false;
  // `for step in buffer.steps: step.encoding.to(device)`: another one in each turn.
  if (isOfTurn(kept, facts)) return false;
  const own = selfAttribute(kept);
  const cls = own === null ? null : classOf(kept);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (cls && facts.role(cls) === "other" && isDrawn(func.value)) return false;
  const isTensor = ({ how, value, in: method }: Attribute["writes"][number]): boolean =>
    how === "assign" &&
    method.name === "__init__" &&
    value !== null &&
    !/Parameter\(|register_|cuda|device|\blike\b|_like\(/.test(file.textOf(value)) &&
    facts.value(value).what !== "module" &&
    (CONSTANTS.test(own!) ||
      (facts.value(value).what === "tensor" && facts.value(value).device !== "accelerator"));
  const isOfOwner =
    own === null &&
    CONSTANTS.test(kept.attr) &&
    !/^(?:batch|data|inputs?|out(?:puts?)?|sample|self|layer|module|m|conv|linear|norm|bn)$/.test(
      lastWord(kept.value),
    ) &&
    !/^(?:weights?|mask|means?|bias)$/.test(kept.attr);
  return (
    (own === null ? isOfOwner : writes.length > 0 && writes.every(isTensor)) && facts.everyStep(call) !== null
  );
}

/** An attribute of what a loop or a comprehension goes through, or of a part of that. */
function isOfTurn(kept: Expr, { file }: Facts): boolean {
  let at = kept;
  while (at.kind === "Attribute" || at.kind === "Subscript") at = at.value;
  return at.kind === "Name" && file.scopes.reaching(at).some(({ how }) => how === "iterate");
}

/** `if self.weights.device != x.device:` around the call: of what stays on the host, it is so in every forward. */
function alwaysAway(call: Call, attribute: string): If | null {
  const around = statementOf(call)?.parent;
  const test = around?.kind === "If" ? around.test : null;
  if (around?.kind !== "If" || !around.body.some((one) => contains(one, call))) return null;
  const isItsDevice = (side: Expr | undefined): boolean =>
    side?.kind === "Attribute" && side.attr === "device" && selfAttribute(side.value) === attribute;
  const compared = test?.kind === "Compare" && test.ops[0] === "!=" ? [test.left, ...test.rights] : [];
  return compared.length === 2 && compared.some(isItsDevice) ? around : null;
}

/** `x.device` */
function isDeviceOf(expr: Expr | null): boolean {
  return expr?.kind === "Attribute" && expr.attr === "device";
}

/** `device` of `def biases(self, device)`, which the class calls with `x.device`. */
function isHandedDevice(expr: Expr | null, { file }: Facts): boolean {
  const [one, ...more] = expr?.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (one?.how !== "param" || more.length > 0) return false;
  const given = handedIn(one, file, true);
  return given.length > 0 && given.every(isDeviceOf);
}

/** Made in the constructor and left there when the module moves, wherever that was. */
function isLeft(write: Attribute["writes"][number], facts: Facts): boolean {
  const { how, value, in: method } = write;
  if (how !== "assign" || !value || method.name !== "__init__") return false;
  if (/Parameter\(|cuda/.test(facts.file.textOf(value))) return false;
  // `self.table = torch.arange(n, device=device)` with `device=None`: where the constructor was told, if it was.
  const named = value.kind === "Name" ? facts.file.scopes.reaching(value) : [];
  if (facts.value(value).what === "tensor" && named.every((one) => one.how === "assign"))
    return method.params.some(isUntold);
  return isNone(value) || isGivenByHelper(value, facts);
}

/** `cos, sin = rotary(length, width)`, or one of them alone: no layer, which a class would make. */
function isGivenByHelper(value: Expr, facts: Facts): boolean {
  const [one, ...more] = value.kind === "Name" ? facts.file.scopes.reaching(value) : [];
  const made =
    one && more.length === 0 ? (one.how === "assign" || one.how === "unpack" ? one.value : null) : value;
  return (
    made?.kind === "Call" &&
    facts.value(value).what !== "module" &&
    /(?:^|_)(?:tables?|rope|rotary|freqs?|cis|cache|mask|masks|window|filters?|kernel|grid|anchors|positions?|embeddings?|sinusoids?|encoding|schedule|betas|basis|coords?|weights|stats)(?:_|$)/.test(
      lastWord(made.func).toLowerCase(),
    ) &&
    !/^_*[A-Z]/.test(lastWord(made.func))
  );
}

function isUntold({ name, default: given }: Param): boolean {
  return name === "device" && isNone(given);
}

/**
 * `def blur(self, x): … self.kernel.to(x.device)`: what a method of a module does for what it is given, or for what it makes of
 * that, is part of a forward, whoever calls it.
 */
function isOfComputation(call: Call, device: Expr | null, facts: Facts): boolean {
  const fn = functionOf(call);
  const of = device?.kind === "Attribute" && device.attr === "device" ? device.value : null;
  const [one, ...more] = of?.kind === "Name" ? facts.file.scopes.reaching(of) : [];
  return (
    fn?.kind === "FunctionDef" &&
    ((one?.how === "param" && more.length === 0) ||
      (fn.name === "forward" && of?.kind === "Name" && derivesFromInput(of, facts))) &&
    !/^_?(?:init|reset|build|prepare|setup|load|sample|generate|infer)/.test(fn.name) &&
    facts.gradMode(call) !== "off" &&
    facts.frequency(call, fn) === "every"
  );
}

/** `self.x`, under an index, a change of shape, or a function of each number of it. */
function root(expr: Expr): Expr {
  if (expr.kind === "Subscript") return root(expr.value);
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:view|reshape|unsqueeze|expand|repeat|repeat_interleave|flatten|permute|transpose|contiguous|float|t|clone|squeeze|detach|exp|log|sqrt|rsqrt|abs|neg|sigmoid|softmax)$/.test(
      expr.func.attr,
    )
    ? root(expr.func.value)
    : expr;
}

/** `extract(self.betas, t)` behind the `table` of `def extract(table, t)`, where that is always an attribute of self. */
function handedOn(expr: Expr, facts: Facts): Expr | null {
  const { file } = facts;
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (one?.how !== "param" || more.length > 0) return null;
  const handed = handedIn(one, file, true);
  if (handed.some((value) => selfAttribute(value) === null)) return null;
  return handed.find((value) => isHeldOnHost(value, facts)) ?? null;
}

/**
 * `self.encoder.freqs`, kept by another module of this file: one that makes this object, or that is said to be meant. Only that one
 * keeps anything under the name, and nobody puts another there.
 */
function ofAnother(expr: Expr, facts: Facts): Expr | null {
  const { file } = facts;
  if (expr.kind !== "Attribute" || file.dotted(expr) !== null) return null;
  const { attr, value: owner } = expr;
  if (owner.kind !== "Name" && selfAttribute(owner) === null) return null;
  const [cls, ...more] = file.all("ClassDef").filter((one) => attributesOf(one, file).has(attr));
  if (!cls || more.length > 0 || cls === classOf(expr) || !isModuleRole(facts.role(cls))) return null;
  const isPut = ({ targets }: Assign): boolean =>
    targets.some((one) => one.kind === "Attribute" && one.attr === attr && selfAttribute(one) === null);
  const [write] = attributesOf(cls, file).get(attr)!.writes;
  return write && isOwnedBy(owner, cls, facts) && !file.all("Assign").some(isPut) ? write.target : null;
}

function isOwnedBy(owner: Expr, cls: ClassDef, facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(owner);
  const user = own === null ? null : classOf(owner);
  if (!user) {
    // `def turned(x, table: Rotary)`
    const [one, ...more] = owner.kind === "Name" ? file.scopes.reaching(owner) : [];
    const said = one?.node.kind === "Param" && more.length === 0 ? one.node.annotation : null;
    return said !== null && file.dotted(said) === file.qualified(cls);
  }
  const writes = attributesOf(user, file).get(own!)?.writes ?? [];
  const made = writes.flatMap(({ value }) => (value?.kind === "Call" ? [value] : []));
  if (made.length > 0)
    return made.length === writes.length && made.every((one) => classBehind(one, facts) === cls);
  // `closure = Turning`, `return x, Turning(self)`: what it makes so is told who made it.
  return (
    file.all("Name").some((name) => name.id === user.name && contains(cls, name)) &&
    writes.every(({ value }) => value?.kind === "Name")
  );
}

/** `self.positions(length)`, of a layer of this file whose forward does nothing but return rows of a table of its own. */
function lookedUp(expr: Expr, facts: Facts): Expr | null {
  const own = expr.kind === "Call" ? selfAttribute(expr.func) : null;
  const cls = own === null ? null : classOf(expr);
  const [write, ...more] = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  const layer = write?.value && more.length === 0 ? classBehind(write.value, facts) : null;
  const forward = layer && methodsOf(layer).find(({ name }) => name === "forward");
  if (!forward) return null;
  const [back, ...others] = facts.file.all("Return").filter((one) => functionOf(one) === forward);
  const table = back?.value && others.length === 0 ? root(back.value) : null;
  return table && selfAttribute(table) !== null && isHeldOnHost(table, facts) ? table : null;
}

/** `eye = self.eye.repeat(n, 1)`, `places = self.table[:, :length]`, which are sent under that name. */
function underName(expr: Expr, facts: Facts): Expr | null {
  if (expr.kind !== "Name") return null;
  const kept = root(unwrapped(madeAs(expr, facts), facts));
  return selfAttribute(kept) !== null && isHeldOnHost(kept, facts) ? kept : null;
}

/** `self.table` of `Variable(self.table, requires_grad=False)`, which is what it is given. */
function unwrapped(expr: Expr, { file }: Facts): Expr {
  const wraps = expr.kind === "Call" && VARIABLE.test(file.dotted(expr.func) ?? "");
  return (wraps ? positional(expr, 0) : null) ?? expr;
}

/** What a name was given, where that is one thing. */
function madeAs(expr: Expr, { file }: Facts): Expr {
  const [made, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return made?.how === "assign" && made.value && more.length === 0 ? made.value : expr;
}

/** `self.places_of(n).to(x.device)`, where all that the method hands back are parts of an attribute that is on the host. */
function handedBack(expr: Expr, facts: Facts): Expr | null {
  const own = expr.kind === "Call" ? selfAttribute(expr.func) : null;
  const cls = own === null ? null : classOf(expr);
  const method = cls && methodsOf(cls).find(({ name }) => name === own);
  const [back, ...others] = method
    ? facts.file.all("Return").filter((one) => functionOf(one) === method)
    : [];
  let part = back?.value && others.length === 0 ? root(back.value) : null;
  // `rows = self.table[:n]`, `rows = rows.repeat(2, 1)`
  for (let turn = 0; part?.kind === "Name" && turn < 4; turn++) {
    const [made, ...more] = facts.file.scopes.reaching(part);
    part = made?.how === "assign" && made.value && more.length === 0 ? root(made.value) : null;
  }
  return part && selfAttribute(part) !== null && isHeldOnHost(part, facts) ? part : null;
}

/** `self.real if is_real else self.fake`, both of them on the host. */
function oneOfTwo(expr: Expr, facts: Facts): Expr | null {
  const made = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  if (made?.kind !== "IfExp") return null;
  const both = [made.body, made.orelse];
  return both.every((one) => selfAttribute(one) !== null && isHeldOnHost(one, facts)) ? made.body : null;
}

/** The class of this file that a layer is made of: `Positions(width)`, also as what a parameter is by default. */
function classBehind(made: Expr, facts: Facts): ClassDef | null {
  const { file } = facts;
  if (made.kind === "Call")
    return file.all("ClassDef").find((one) => file.qualified(one) === file.dotted(made.func)) ?? null;
  const [one, ...more] = made.kind === "Name" ? file.scopes.reaching(made) : [];
  const kept = one?.how === "param" && one.node.kind === "Param" ? one.node.default : null;
  return kept?.kind === "Call" && more.length === 0 ? classBehind(kept, facts) : null;
}

function isHeldOnHost(expr: Expr, facts: Facts): boolean {
  const cls = classOf(expr);
  const writes = cls ? lastOf(attributesOf(cls, facts.file).get(selfAttribute(expr)!)?.writes ?? []) : [];
  return writes.length > 0 && writes.every((write) => isOnHost(write, facts));
}

/** `self.table = sinusoids(n, width)` once more in `init_weights`: made anew as the constructor made it, for weights that were left out at first. */
function withoutRepeats(writes: Attribute["writes"], { file }: Facts): Attribute["writes"] {
  const maker = ({ value, how }: Attribute["writes"][number]): string | null =>
    how === "assign" && value?.kind === "Call" ? file.dotted(value.func) : null;
  const first = writes.find((one) => one.in.name === "__init__" && maker(one) !== null);
  return writes.filter(
    (one) =>
      !first || one.in === first.in || !/^_?(?:init|reset)_/.test(one.in.name) || maker(one) !== maker(first),
  );
}

/** Of `self.w = np.eye(9)` and then `self.w = torch.tensor(self.w)`, one below the other: what it is in the end. */
function lastOf(writes: Attribute["writes"]): Attribute["writes"] {
  const blocks = new Set(writes.map(({ target }) => target.parent?.parent));
  const [block] = blocks;
  return blocks.size === 1 && block?.kind === "FunctionDef" ? writes.slice(-1) : writes;
}

/** `self.states[indices]` */
function isDrawn(expr: Expr): boolean {
  return expr.kind === "Subscript" && expr.index.kind !== "Num" && expr.index.kind !== "Slice";
}

/** `self.cells` behind the `cell` of `for cell in self.cells`, also beside another list. */
function listed(expr: Expr, { file }: Facts): Expr {
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (one?.how !== "iterate" || !one.value || more.length > 0) return expr;
  const over = one.value;
  const lists = over.kind === "Call" ? over.args.map(({ value }) => value) : [over];
  return lists.length === 1 ? lists[0]! : (lists[one.index ?? -1] ?? expr);
}

function isOnHost(write: Attribute["writes"][number], facts: Facts): boolean {
  if (write.how !== "assign" || !write.value) return false;
  if (write.in.name !== "__init__" && !isPartOfInit(write.in, facts)) return false;
  const { value } = write;
  // A list or a dict of them.
  const parts =
    value.kind === "Comp"
      ? [value.value ?? value.element]
      : value.kind === "Dict"
        ? value.values
        : value.kind === "List" || value.kind === "Tuple"
          ? value.items
          : [value];
  return parts.length > 0 && parts.every((part) => isTensorOnHost(part, facts));
}

/** `self.make_tables()`, which the constructor calls and nobody else. */
function isPartOfInit(method: FunctionDef, { file }: Facts): boolean {
  const calls = file.callsNamed(method.name);
  return (
    calls.length > 0 &&
    calls.every((call) => {
      const from = functionOf(call);
      return (
        selfAttribute(call.func) !== null &&
        from?.kind === "FunctionDef" &&
        from.name === "__init__" &&
        from.parent === method.parent
      );
    })
  );
}

function isTensorOnHost(expr: Expr, facts: Facts): boolean {
  // `self.lo = self.haar(1.0)`
  const own = expr.kind === "Call" ? selfAttribute(expr.func) : null;
  const method = own === null ? undefined : methodsOf(classOf(expr)!).find((one) => one.name === own);
  if (method) {
    const returns = facts.file.all("Return").filter((one) => functionOf(one) === method);
    return returns.length > 0 && returns.every(({ value }) => value !== null && isMade(value, facts));
  }
  return isMade(expr, facts);
}

function isMade(expr: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(expr);
  if (isSentNowhere(expr, facts)) return true;
  if (what === "tensor" && device === "cpu") return !/Parameter\(/.test(facts.file.textOf(expr));
  if (what === "tensor" && meetsHost(expr, facts, 0)) return true;
  const made = root(expr);
  const call = (made.kind === "Name" ? facts.file.scopes.onlyValue(made) : null) ?? made;
  return call.kind === "Call" && (isTable(call, facts) || isLibraryTable(call, facts));
}

/** `schedule.alphas().to(self.device)` in the constructor of a Lightning module: that is the host then, whatever comes later. */
function isSentNowhere(expr: Expr, facts: Facts): boolean {
  const fn = functionOf(expr);
  const cls = classOf(expr);
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute" || expr.func.attr !== "to") return false;
  if (fn?.kind !== "FunctionDef" || fn.name !== "__init__" || !cls || facts.role(cls) !== "lightning")
    return false;
  const [place, ...more] = expr.args;
  if (!place || more.length > 0 || selfAttribute(place.value) !== "device") return false;
  const { what } = facts.value(expr.func.value);
  return what === "tensor" || (what === "unknown" && isKeptForRows(expr, cls, facts));
}

/** Of what a method in small letters gave, `self.alphas = …`, and then `self.alphas[t]`: rows are picked of it, as of no layer. */
function isKeptForRows(kept: Call, cls: ClassDef, { file }: Facts): boolean {
  const from = kept.func.kind === "Attribute" ? kept.func.value : null;
  if (from?.kind !== "Call" || /^_*[A-Z]/.test(lastWord(from.func))) return false;
  const [name] =
    [...attributesOf(cls, file)].find(([, { writes }]) => writes.some(({ value }) => value === kept)) ?? [];
  return (
    name !== undefined &&
    file.all("Subscript").some(({ value, index }) => {
      const of = value.kind === "Call" && value.func.kind === "Attribute" ? value.func.value : value;
      return index.kind === "Name" && selfAttribute(of) === name && classOf(of) === cls;
    })
  );
}

/** `torchaudio.functional.create_dct(13, 80, "ortho")`: made of numbers, on the host unless it is told a device. */
function isLibraryTable(call: Call, { file }: Facts): boolean {
  return (
    /^(?:torchaudio\.functional\.(?:\w+\.)*(?:create_dct|create_fb_matrix|\w+_fbanks)|torch\.signal\.windows\.\w+|kornia\.filters\.(?:\w+\.)*get_\w*kernel\w*)$/.test(
      file.dotted(call.func) ?? "",
    ) && argument(call, "device", 99) === null
  );
}

/** `torch.cat([torch.ones(1), products[:-1]])` beside it: what is joined with a tensor of the host is one, and so is what was computed from it. */
function meetsHost(expr: Expr, facts: Facts, depth: number): boolean {
  const { file } = facts;
  // Sent somewhere, or made by who knows what, it may be anywhere.
  if (/\.(?:to|cuda|type_as)\(|device|Parameter\(/.test(file.textOf(expr))) return false;
  if (depth > 0 && expr.kind !== "Binary" && facts.value(expr).what !== "tensor") return false;
  let found = false;
  walk(expr, (node) => {
    // `alphas = 1 - self.betas` in the constructor, before the module is moved.
    if (node.kind === "Attribute" && isNewBuffer(node, facts)) found = true;
    const made = found || node.kind !== "Name" ? undefined : file.scopes.reaching(node);
    const [one, ...more] = made ?? [];
    if (!one || more.length > 0 || (one.how !== "assign" && one.how !== "param")) return !found;
    found =
      file.scopes.uses(one).some((use) => isJoinedWithHost(use, facts)) ||
      (one.how === "assign" && one.value !== null && depth < 4 && meetsHost(one.value, facts, depth + 1));
    return !found;
  });
  return found;
}

/** A buffer that the constructor itself registers, of what it makes on the host. */
function isNewBuffer(expr: Expr, facts: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  return (
    writes.length === 1 &&
    writes[0]!.how === "buffer" &&
    writes[0]!.in.name === "__init__" &&
    functionOf(expr) === writes[0]!.in &&
    writes[0]!.value !== null &&
    facts.value(writes[0]!.value).device === "cpu"
  );
}

function isJoinedWithHost(use: Expr, facts: Facts): boolean {
  let at: Expr = use;
  while (at.parent?.kind === "Subscript" && at.parent.value === at) at = at.parent;
  const list = at.parent?.kind === "List" || at.parent?.kind === "Tuple" ? at.parent : null;
  const call = list?.parent?.kind === "Arg" ? list.parent.parent : null;
  return (
    call?.kind === "Call" &&
    /^torch\.(?:cat|concat|hstack|stack)$/.test(facts.file.dotted(call.func) ?? "") &&
    list!.items.some((item) => {
      const { what, device } = facts.value(item);
      return item !== at && what === "tensor" && device === "cpu";
    })
  );
}

/** `sinusoids(512, width)`, `sinusoids(512, width, "cpu")`: of a function of the tree that makes it of numbers. */
function isTable(call: Call, facts: Facts): boolean {
  const callee = facts.callee(call);
  if (!callee?.table || call.args.some(({ star, value }) => star > 0 || facts.onAccelerator(value)))
    return false;
  const { device, optional } = callee.table;
  if (device === undefined) return true;
  const place = argument(call, device, callee.params.indexOf(device));
  return place ? facts.device(place) === "cpu" : optional === true;
}

function asBuffer(assign: Node | null, attribute: string): Fix | null {
  if (assign?.kind !== "Assign" || assign.targets.length !== 1) return null;
  const edits = [
    { start: assign.start, end: assign.value.start, text: `self.register_buffer("${attribute}", ` },
    { start: assign.value.end, end: assign.value.end, text: ", persistent=False)" },
  ];
  return { grade: "unsafe", title: "Register it as a buffer", edits };
}

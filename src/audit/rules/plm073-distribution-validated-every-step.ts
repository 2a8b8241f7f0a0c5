import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { literalDict } from "../facts/arguments.ts";
import { attributesOf, isModuleRole, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { callsOf } from "../facts/returns.ts";
import { last } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

const CLASSES = /^[A-Z]/;

export const rule: Rule = {
  meta: {
    code: "PLM073",
    name: "distribution-validated-every-step",
    summary: "A distribution made on every step checks its arguments on the host",
    severity: "note",
    fix: "unsafe",
    patterns: [73],
  },
  *check(facts) {
    const { file } = facts;
    if (!(facts.anyHot || facts.guesses)) return;
    const onDevice = facts.accelerator || (facts.guesses && facts.project.accelerated.size > 0);
    if (!onDevice || file.callsNamed("set_default_validate_args").length > 0) return;
    const others = file.mentions("distributions") ? file.all("Call") : [];
    for (const call of new Set([...file.calls.matching(CLASSES), ...others])) {
      const family = baseMade(call, file);
      const name =
        family?.base ?? inherited(file.dotted(call.func), file) ?? classBehind(call.func, file) ?? "";
      if (
        !/^torch\.distributions\.(?:\w+\.)*[A-Z]\w*$/.test(name) ||
        /Transform$|Independent$|constraints/.test(name) ||
        (keyword(call, "validate_args") && !isTrue(keyword(call, "validate_args")!.value)) ||
        call.args.length === 0 ||
        call.args.some((arg) => arg.star !== 0)
      )
        continue;
      const asked = keyword(call, "validate_args");
      // Of host arrays they cost no wait.
      if (call.args.every(({ value }) => facts.value(value).device === "cpu")) continue;
      const often = isEveryStep(call, family, facts) || (facts.guesses && isLikelyOften(call, facts));
      const asks = often ? null : valueTested(call, facts);
      if (often || asks)
        yield {
          at: asks ?? call,
          message: asks
            ? `This \`${last(name)}\` tests each value given to \`log_prob\` on the host: a wait on every step`
            : `\`${last(name)}\` tests its arguments, and each value given to \`log_prob\`, on the host: a wait each, on every step`,
          ...(isCaught(call, file)
            ? {}
            : {
                fix: {
                  grade: "unsafe" as const,
                  title: "Do not validate",
                  edits: asked
                    ? [{ start: asked.value.start, end: asked.value.end, text: "False" }]
                    : addKeyword(call, "validate_args=False", file),
                },
              }),
        };
    }
  },
};

/** `prior.log_prob(z)` on every step, of `prior = Normal(zeros, ones)` that was made once: what it is given is tested each time. */
function valueTested(made: Call, facts: Facts): Call | null {
  const { file } = facts;
  const [target] = made.parent?.kind === "Assign" ? made.parent.targets : [];
  const own = target ? selfAttribute(target) : null;
  const definition = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  for (const call of definition || own !== null ? file.callsNamed("log_prob") : []) {
    if (call.func.kind !== "Attribute") continue;
    const of = call.func.value;
    const isOfIt = definition
      ? of.kind === "Name" && file.scopes.reaching(of).every((one) => one === definition)
      : selfAttribute(of) === own && classOf(of) === classOf(target!);
    const hot = isOfIt ? facts.hot(call) : null;
    const given = call.args[0]?.value;
    if (
      hot &&
      given &&
      facts.frequency(call, hot.within) !== "throttled" &&
      facts.value(given).device !== "cpu"
    )
      return call;
  }
  return null;
}

/** In a `try` that catches what the validation raises: somebody goes on from there. */
function isCaught(call: Call, file: PythonFile): boolean {
  let child: Node = call;
  for (const at of ancestors(call)) {
    if (at.kind === "FunctionDef") return false;
    const catches =
      at.kind === "Try" &&
      at.body.includes(child as never) &&
      at.handlers.some(
        ({ type }) => type === null || /\b(?:ValueError|(?:Base)?Exception)\b/.test(file.textOf(type)),
      );
    if (catches) return true;
    child = at;
  }
  return false;
}

/** The distribution above a class of this file, where a call is of its constructor: `super().__init__(loc, scale)`. */
function baseMade({ func }: Call, file: PythonFile): Family | null {
  if (func.kind !== "Attribute" || func.attr !== "__init__") return null;
  const cls = classOf(func);
  const family = cls ? file.once(families).get(file.qualified(cls)) : undefined;
  if (!family) return null;
  const { value } = func;
  const above =
    value.kind === "Call" ? file.dotted(value.func) === "builtins.super" : file.dotted(value) === family.base;
  return above ? family : null;
}

/** Of a class of this file that is made as the distribution above it, that one. */
function inherited(name: string | null, file: PythonFile): string | null {
  const family = name === null || name.startsWith("torch.") ? undefined : file.once(families).get(name);
  return family && !methodsOf(family.cls).some((method) => method.name === "__init__") ? family.base : name;
}

interface Family {
  readonly cls: ClassDef;
  readonly base: string;
}

/** The classes of a file that are distributions by their first base; one that states its constraints may well have none. */
function families(file: PythonFile): ReadonlyMap<string, Family> {
  const found = new Map<string, Family>();
  for (const cls of file.all("ClassDef")) {
    const [first] = cls.args;
    const base = first?.name === null ? (file.dotted(first.value) ?? "") : "";
    if (
      /^torch\.distributions\.(?:\w+\.)*(?!Transformed|Distribution$|ExponentialFamily$)[A-Z]\w*$/.test(
        base,
      ) &&
      !/\barg_constraints\b|_validate_args\b/.test(file.codeOf(cls))
    )
      found.set(file.qualified(cls), { cls, base });
  }
  return found;
}

/** On every step: the call, or those that make what it is the constructor of. */
function isEveryStep(call: Call, family: Family | null, facts: Facts): boolean {
  const { file } = facts;
  const often = (at: Call): boolean => {
    const hot = facts.hot(at);
    return hot !== null && facts.frequency(at, hot.within) !== "throttled";
  };
  return (
    often(call) ||
    isForMissing(call, facts) ||
    (family !== null &&
      file
        .callsNamed(family.cls.name)
        .some((made) => file.dotted(made.func) === file.qualified(family.cls) && often(made)))
  );
}

/**
 * What is likely: a distribution of tensors that a function computes is made whenever that is called, which in a program that trains
 * is on every step, unless it is called to judge, to act in an environment or to make something ready.
 */
function isLikelyOften(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || ONCE.test(facts.file.path)) return false;
  const drawn = DRAWS.test(fn.name) && (isOfDistribution(fn) || isDrawnThrough(call, facts));
  if (ONCE.test(fn.name) && !drawn) return false;
  if (facts.gradMode(call) === "off" && facts.hot(call) === null) return false;
  if (facts.frequency(call, fn) === "throttled") return false;
  // Above the loop of steps it is made once.
  if ([...facts.stepLoops].some((loop) => contains(fn, loop) && !contains(loop, call))) return false;
  const calls = callsOf(fn, facts.file);
  if (!OFTEN.test(fn.name) && !drawn && calls.length === 0) return false;
  if (
    calls.length > 0 &&
    calls.every((one) => facts.gradMode(one) === "off" || isKept(one, facts) || isAskedOnce(one))
  )
    return false;
  return call.args.some(({ value }) => /^(?:tensor|output|unknown)$/.test(facts.value(value).what));
}

const DRAWS = /^_*r?sample(?:_(?:z|latents?|noise|posterior|with_log_?prob|normal|actions?))?$/;

/** `class DiagonalGaussian: def sample(self)`, beside what a loss asks of it: `def kl(self)`, `def log_prob(self, x)`. */
function isOfDistribution({ parent }: FunctionDef): boolean {
  return (
    parent?.kind === "ClassDef" &&
    methodsOf(parent).some(({ name }) => /^(?:kld?|kl_div\w*|nll|log_?prob|mode|entropy)$/.test(name))
  );
}

/** `Normal(mean, std).rsample()`, also by a name: nobody but a step wants the gradient that goes through what is drawn. */
function isDrawnThrough(call: Call, { file }: Facts): boolean {
  const isDrawn = (one: Expr): boolean =>
    one.parent?.kind === "Attribute" && one.parent.attr === "rsample" && one.parent.value === one;
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return isDrawn(call) || (made !== null && file.scopes.uses(made).some(isDrawn));
}

/** `self.other(x).sample()` in `def sample(self, n):`, which is for who looks at what is drawn. */
function isAskedOnce(call: Call): boolean {
  const by = functionOf(call);
  return by?.kind === "FunctionDef" && ONCE.test(by.name) && !OFTEN.test(by.name);
}

/** `if self.prior is None: self.prior = self.make_prior()` */
function isKept(call: Call, { file }: Facts): boolean {
  return ancestors(call).some((at) => at.kind === "If" && /\bis None\b/.test(file.textOf(at.test)));
}

/** Named as what a loss is made of. */
const OFTEN =
  /loss|log_?prob|(?:^|_)kld?(?:_|$)|entropy|nll|elbo|^__call__$|^forward|dist(?:ribution)?$|posterior/i;

const ONCE =
  /^_*(?:init|build|make|create|setup|reset|register|main|configure)|eval|valid|test|plot|visual|infer|demo|generate|dataset|augment|transforms?\b|act(?:ion)?$|collect|rollout|prior|sampl|predict|draw|viz/i;

/**
 * In a method that the forward of its class calls, also for what nobody has given it: `if noise is None: noise = self.draw(n)`. Who
 * gives it is seldom a training.
 */
function isForMissing(call: Call, facts: Facts): boolean {
  const cls = facts.hot(call) === null ? classOf(call) : null;
  if (!cls || !isModuleRole(facts.role(cls))) return false;
  const methods = methodsOf(cls);
  const around = (node: Node): FunctionDef | undefined => methods.find((one) => contains(one, node));
  const calls = facts.file.all("Call").filter((one) => contains(cls, one));
  const reached = new Set(methods.filter(({ name }) => name === "forward"));
  // A set goes on through what is added to it on the way.
  for (const from of reached)
    for (const one of calls) {
      const own = contains(from, one) ? selfAttribute(one.func) : null;
      const to = own === null ? undefined : methods.find(({ name }) => name === own);
      if (to && facts.frequency(one, from) === "every") reached.add(to);
    }
  const fn = around(call);
  return fn !== undefined && reached.has(fn) && facts.frequency(call, fn) === "every";
}

/** `FAMILIES[name](mean, scale)`: of a table that holds nothing but distributions, the first. */
function classInTable(table: Expr, file: PythonFile): string | null {
  const dict = literalDict(table, file);
  const names = dict?.kind === "Dict" ? dict.values.map((one) => file.dotted(one) ?? "") : [];
  return names.every((name) => name.startsWith("torch.distributions.")) ? (names[0] ?? null) : null;
}

/** `partial(Categorical, probs=None)` */
function classBound(made: Call, file: PythonFile): string | null {
  const [bound] = made.args;
  const binds = file.dotted(made.func) === "functools.partial" && !keyword(made, "validate_args");
  return binds && bound ? file.dotted(bound.value) : null;
}

/** The class of `family = Categorical`, of `Normal if continuous else Categorical` the first, under a name or on self. */
function classBehind(callee: Expr, file: PythonFile): string | null {
  const own = selfAttribute(callee);
  const cls = own === null ? null : classOf(callee);
  const writes = cls ? attributesOf(cls, file).get(own!)?.writes : undefined;
  const made =
    callee.kind === "Name"
      ? file.scopes.onlyValue(callee)
      : writes?.length === 1
        ? (writes[0]!.value ?? null)
        : null;
  if (callee.kind === "Subscript") return classInTable(callee.value, file);
  if (made?.kind === "Call") return classBound(made, file);
  if (made?.kind !== "IfExp") return made && file.dotted(made);
  const [one, other] = [file.dotted(made.body), file.dotted(made.orelse)];
  return other?.startsWith("torch.distributions.") === true ? one : null;
}

import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Handler, Name, Node, Try } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { heldErrors, isStored } from "../facts/held-errors.ts";
import { stepsByWord } from "../facts/project-words.ts";
import { isNetwork } from "../facts/networks.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import { callsOf } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM011",
    name: "error-kept-with-frames",
    summary: "A caught exception is stored: its traceback keeps the frames it passed, and all their tensors",
    severity: "warning",
    fix: "unsafe",
    patterns: [11],
  },
  *check(facts) {
    const told = new Set<Call>();
    for (const handler of facts.file.all("Handler")) {
      const runs = runsNetwork(handler, facts);
      if (
        !runs &&
        !handlesTensors(handler, facts) &&
        !runsGiven(handler, facts) &&
        !runsInside(handler, facts) &&
        !takesStep(handler, facts) &&
        !(facts.guesses && mayHoldTensors(handler, facts))
      )
        continue;
      // The frame of the step itself is held as well, whatever failed in it.
      const severity = runs ? {} : { severity: "note" as const };
      for (const finding of kept(handler, facts)) yield { ...finding, ...severity };
      for (const call of keptFor(handler, facts)) {
        if (told.has(call)) continue;
        told.add(call);
        yield { at: call, ...severity, message: TRACEBACK };
      }
      if (handler.name === null) continue;
      for (const name of facts.file.all("Name")) {
        if (name.id !== handler.name || !contains(handler, name)) continue;
        // Raised again, it ends the program unless somebody above catches it and goes on.
        if (!facts.guesses && handler.body.at(-1)?.kind === "Raise") continue;
        if (!isKept(name, handler, facts)) continue;
        yield {
          at: name,
          ...severity,
          message: `\`${name.id}\` holds its traceback, that the frames of the attempt, and those every tensor they had: nothing of it is freed while this is kept`,
          ...(isReadAfter(name, handler, facts.file)
            ? {}
            : {
                fix: {
                  grade: "unsafe" as const,
                  title: "Keep it without its traceback",
                  edits: [{ start: name.end, end: name.end, text: ".with_traceback(None)" }],
                },
              }),
        };
      }
    }
  },
};

/** Its traceback is still wanted below: the error is handed on, shown, or raised again somewhere. */
function isReadAfter(name: Name, handler: Handler, { text }: PythonFile): boolean {
  const below = text.slice(name.end, handler.end);
  return (
    new RegExp(`\\b${name.id}\\b`).test(below) || /\braise\b|traceback|exc_info|\.exception\(/.test(below)
  );
}

const TRACEBACK =
  "The traceback holds the frames of the attempt, and those every tensor they had: nothing of it is freed while this is kept";

/** `self.note_failure()` in the handler, of a function of this file that stores `sys.exc_info()`. */
function* keptFor(handler: Handler, { file }: Facts): Generator<Call> {
  for (const call of file.callsNamed("exc_info")) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || contains(fn, handler)) continue;
    if (file.dotted(call.func) !== "sys.exc_info" || !isStored(call, false)) continue;
    if (
      callsOf(fn, file).some((one) => contains(handler, one)) &&
      ![...ancestors(call)].some(({ kind }) => kind === "Handler")
    )
      yield call;
  }
}

/** `errors.append(sys.exc_info())`, `trace = e.__traceback__`. */
function* kept(handler: Handler, facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("exc_info"))
    if (
      contains(handler, call) &&
      file.dotted(call.func) === "sys.exc_info" &&
      isKept(call.parent?.kind === "Subscript" ? call.parent : call, handler, facts)
    )
      yield {
        at: call,
        message: TRACEBACK,
      };
  for (const node of file.all("Attribute"))
    if (
      contains(handler, node) &&
      node.attr === "__traceback__" &&
      (isKept(node, handler, facts) || isAssigned(node))
    )
      yield {
        at: node,
        message: TRACEBACK,
      };
}

/** Bound to a name that is read after the handler, or begun before it. */
function isAssigned(node: Expr): boolean {
  return node.parent?.kind === "Assign" && node.parent.value === node;
}

function isKept(expr: Expr, handler: Handler, facts: Facts): boolean {
  // Through a queue to another process goes a copy, without its traceback.
  const processes = facts.file.says(/multiprocessing|\bmp\.(?:Queue|Process|spawn)/);
  return (
    isStored(expr, processes) ||
    outlives(expr, handler, facts) ||
    isHeldFor(expr, facts) ||
    isKeptByCallers(expr, processes, facts)
  );
}

/** `log.add(step, e)`, a function of this tree that keeps what it is handed there. */
function isHeldFor({ parent }: Expr, facts: Facts): boolean {
  const call = parent?.kind === "Arg" && parent.star === 0 ? parent.parent : null;
  if (parent?.kind !== "Arg" || call?.kind !== "Call") return false;
  const fn = facts.file.functionNamed(callTarget(call, facts.file));
  const callee = fn ? null : facts.callee(call);
  const held = (fn ? heldErrors(fn) : callee?.holds) ?? [];
  const params = fn ? fn.params.map(({ name }) => name) : (callee?.params ?? []);
  const at = call.args.indexOf(parent) + (/^(?:self|cls)$/.test(params[0] ?? "") ? 1 : 0);
  return held.includes(parent.name ?? params[at] ?? "");
}

/** `return e`, alone or beside others, and whoever calls that here keeps it: `errors.append(error)`. */
function isKeptByCallers(expr: Expr, processes: boolean, { file }: Facts): boolean {
  const several = expr.parent?.kind === "Tuple" ? expr.parent : null;
  const fn = (several ?? expr).parent?.kind === "Return" ? functionOf(expr) : null;
  if (fn?.kind !== "FunctionDef") return false;
  return callsOf(fn, file).some((call) => {
    if (!several && isStored(call, processes)) return true;
    const [left] = call.parent?.kind === "Assign" && call.parent.value === call ? call.parent.targets : [];
    const target =
      several && left?.kind === "Tuple" ? left.items[several.items.indexOf(expr)] : several ? null : left;
    const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    return made !== null && file.scopes.uses(made).some((use) => isStored(use, processes));
  });
}

/** `last = e` into a name that is there before the handler, or read after it. */
function outlives(name: Expr, handler: Handler, facts: Facts): boolean {
  const { parent } = name;
  if (parent?.kind !== "Assign" || parent.value !== name) return false;
  const { scopes } = facts.file;
  // Raised again, it is on its way through whoever called, and the name goes with the frame.
  const ends = handler.body.at(-1)?.kind === "Raise";
  // `_, _, trace = sys.exc_info()`
  const targets = parent.targets.flatMap((target) => (target.kind === "Tuple" ? target.items : [target]));
  return targets.some((target) => {
    if (target.kind !== "Name" || target.id === "_") return false;
    const all = scopes.lookup(target)?.definitions ?? [];
    const fn = functionOf(handler);
    // `global last`
    if (fn && scopes.lookup(target)?.scope.node.kind === "Module") return true;
    return (
      !ends &&
      // In the loop it stays bound through the turns that follow.
      (loopsAround(handler).some((loop) => facts.stepLoops.has(loop)) ||
        all.some((one) => one.how === "assign" && !contains(handler, one.node)) ||
        scopes.uses(scopes.definitionAt(target)!).some((use) => !contains(handler, use)))
    );
  });
}

/** In the step, with one of its tensors or its network handed to what may fail; or between epochs, with the network. */
function handlesTensors(handler: Handler, facts: Facts): boolean {
  const hot = facts.hot(handler) !== null;
  const loop = loopsAround(handler).at(-1);
  if (!hot && !(loop && facts.backwards.some(({ call }) => contains(loop, call)))) return false;
  let found = false;
  for (const statement of (handler.parent as Try).body)
    walk(statement, (node) => {
      if (node.kind === "Arg")
        found ||= (hot ? /^(?:tensor|output|module)$/ : /^module$/).test(facts.value(node.value).what);
      else if (!hot) return !found;
      // `loss, _ = self._forward(batch)`, and below it is differentiated.
      else if (node.kind === "Name" && facts.file.scopes.binds(node))
        found ||= facts.backwards.some(
          ({ call, loss }) =>
            loss?.kind === "Name" && loss.id === node.id && functionOf(call) === functionOf(handler),
        );
      return !found;
    });
  return found;
}

/** Reads, writes and looks things up: what fails there has no tensors of a network in its frames. */
const HARMLESS =
  /^(?:os|sys|json|yaml|re|time|shutil|pathlib|subprocess|importlib|urllib|requests|logging|builtins|pickle|csv|socket|random|numpy|math|itertools|collections)\.|open|read|write|load|from_pretrained|parse|import|download|fetch|get_logger|save|decode|connect|\.(?:info|warn(?:ing)?|debug)$/;

/** `results[size] = e` after `bench(build(), size)`, in a file about torch: whatever it calls may have tensors in its frames. */
function mayHoldTensors(handler: Handler, { file }: Facts): boolean {
  const caught = handler.type ? file.textOf(handler.type) : "";
  if (
    !/^(?:\()?(?:Exception|BaseException|RuntimeError|.*OutOfMemoryError)?\b/.test(caught) ||
    !/Exception|Runtime|Memory|^$/.test(caught)
  )
    return false;
  if (!file.mentions("torch") || !file.says(/\bcuda\b|\bmodel\b|\bnet\b|backward|nn\.Module/)) return false;
  const called = calls(handler).filter(({ func }) => !HARMLESS.test(file.dotted(func) ?? file.textOf(func)));
  return called.some((call) => {
    const fn = file.functionNamed(callTarget(call, file));
    return fn ? /\b(?:torch|model|net|cuda|loss)\b/.test(file.codeOf(fn)) : call.args.length > 0;
  });
}

/** `try: return fn(batch)` of whatever it is handed, in a file that trains: a step, as likely as not. */
function runsGiven(handler: Handler, facts: Facts): boolean {
  const { backwards, file } = facts;
  const caught = handler.type ? file.textOf(handler.type) : "";
  if (backwards.length === 0 || !/^(?:Exception|RuntimeError|.*OutOfMemoryError)$/.test(caught)) return false;
  let found = false;
  for (const statement of (handler.parent as Try).body)
    walk(statement, (node) => {
      if (node.kind === "Call" && node.func.kind === "Name" && node.args.length > 0)
        found ||= file.scopes.reaching(node.func).some(({ how }) => how === "param");
      return !found;
    });
  return found;
}

/** `try: self.sample(count)` while it trains: a function of this file that runs a network, or hands one on; by its name, of another object. */
function runsInside(handler: Handler, facts: Facts): boolean {
  const { backwards, file } = facts;
  const caught = handler.type ? file.textOf(handler.type) : "";
  const loop = loopsAround(handler).at(-1);
  if (!/^(?:Exception|RuntimeError|.*OutOfMemoryError)?$/.test(caught)) return false;
  if (!facts.hot(handler) && !(loop && backwards.some(({ call }) => contains(loop, call)))) return false;
  return calls(handler).some((call) => {
    const fn = file.functionNamed(callTarget(call, file));
    return fn ? usesNetwork(fn, facts) : PREDICTS.test(lastWord(call.func)) && isOfObject(call, file);
  });
}

const PREDICTS = /^(?:sample|generate|predict|infer|evaluate|validate|visuali[sz]e)(?:_\w+)?$/;

/** `self.evaluator.evaluate(loader)`; not `random.sample(rows)` of a library. */
function isOfObject({ func }: Call, file: PythonFile): boolean {
  return func.kind === "Attribute" && file.dotted(func) === null;
}

/** `self.diffusion.sample(self.net, count)`, `self.net(noise)`, or by another function of this file. */
function usesNetwork(fn: FunctionDef, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  let found = false;
  walk(fn, (node) => {
    if (found || node.kind !== "Call") return !found;
    const inner = depth < 2 ? file.functionNamed(callTarget(node, file)) : undefined;
    found =
      isNetwork(node.func, facts) ||
      node.args.some(({ value }) => facts.value(value).what === "module" || facts.networks.is(value)) ||
      (inner !== undefined && inner !== fn && usesNetwork(inner, facts, depth + 1));
    return !found;
  });
  return found;
}

function calls(handler: Handler): readonly Call[] {
  const found: Call[] = [];
  for (const statement of (handler.parent as Try).body)
    walk(statement, (node) => {
      if (node.kind === "Call") found.push(node);
      return true;
    });
  return found;
}

/** `try: self.learn()`, `loss = engine.step(batch)`: by its name, of an object nobody here shows. */
function takesStep(handler: Handler, facts: Facts): boolean {
  const caught = handler.type ? facts.file.textOf(handler.type) : "";
  if (!facts.file.mentions("torch") || !/^(?:Exception|RuntimeError|.*OutOfMemoryError)?$/.test(caught))
    return false;
  // What runs out of memory on a device, batch after batch, is a step, whoever has it.
  let found = caught.endsWith("OutOfMemoryError") && loopsAround(handler).length > 0;
  for (const statement of (handler.parent as Try).body)
    walk(statement, (node) => {
      if (node.kind === "Call" && node.func.kind === "Attribute")
        found ||=
          /^(?:learn|(?:run_)?train(?:ing)?_(?:step|batch|iter(?:ation)?)|train_one_(?:step|batch|epoch)|optimi[sz]e(?:_parameters|_model)?|run_step|forward_backward\w*)$/.test(
            node.func.attr,
          ) ||
          (node.func.attr === "step" && node.args.length > 0 && statement.kind === "Assign") ||
          // `metrics = self.agent.update(batch)`
          (node.func.attr === "update" && /agent|learner|trainer|policy/i.test(lastWord(node.func.value))) ||
          isLeftToOthers(node, facts);
      return !found;
    });
  return found;
}

/** `self.update()`, which this class leaves to those that derive from it, and one of the tree takes a step by that name. */
function isLeftToOthers({ func }: Call, { project }: Facts): boolean {
  const own = selfAttribute(func);
  const cls = own === null ? null : classOf(func);
  const method = cls ? methodsOf(cls).find(({ name }) => name === own) : undefined;
  return method?.body.every(isLeftOut) === true && stepsByWord(project).has(own!);
}

/** `raise NotImplementedError`, `...`, and what is said about it. */
function isLeftOut(statement: Node): boolean {
  if (statement.kind === "ExprStmt") return /^(?:Str|Const)$/.test(statement.value.kind);
  if (statement.kind !== "Raise" || !statement.value) return statement.kind === "Pass";
  const raised = statement.value.kind === "Call" ? statement.value.func : statement.value;
  return lastWord(raised) === "NotImplementedError";
}

function runsNetwork(handler: Handler, facts: Facts): boolean {
  const attempt = handler.parent as Try;
  const steps = optimizerSteps(facts.file);
  let found = false;
  for (const statement of attempt.body)
    walk(statement, (node) => {
      if (
        node.kind === "Call" &&
        (isNetwork(node.func, facts) ||
          facts.backwards.some(({ call }) => call === node) ||
          steps.includes(node) ||
          facts.callee(node)?.reachesBackward === true)
      )
        found = true;
      return !found;
    });
  return found;
}

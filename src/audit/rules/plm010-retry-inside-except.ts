import { contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, Handler, Try } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { paramGiven } from "../facts/returns.ts";
import type { Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM010",
    name: "retry-inside-except",
    summary:
      "Work is tried again inside the `except` of an out-of-memory error, while the failed attempt is still alive",
    severity: "warning",
    fix: "unsafe",
    patterns: [10],
  },
  *check(facts) {
    for (const statement of facts.file.all("Try"))
      for (const handler of statement.handlers) {
        if (!catchesOutOfMemory(handler, facts)) continue;
        const again = repeated(statement, handler, facts);
        if (!again) continue;
        const fix = moveOut(statement, handler, facts);
        yield {
          at: again,
          // Of a function that nobody here shows to run a network we only suppose it.
          ...(isNetwork(again.func, facts) ||
          facts.hot(again) ||
          facts.callee(again)?.reachesBackward === true
            ? {}
            : { severity: "note" as const }),
          message:
            "The caught error's traceback still holds the failed attempt's frames and all their tensors; retry after the `except` block has ended",
          ...(fix ? { fix } : {}),
        };
      }
  },
};

/** The handler only notes the failure; its work follows the whole statement. */
function moveOut(statement: Try, handler: Handler, facts: Facts): Fix | null {
  const { file } = facts;
  const [first] = handler.body;
  const onOwnLine = (node: { start: number }): boolean =>
    file.text.slice(file.lines.start(file.lines.line(node.start)), node.start).trim() === "";
  if (
    !first ||
    statement.handlers[statement.handlers.length - 1] !== handler ||
    statement.orelse.length > 0 ||
    statement.final.length > 0 ||
    !onOwnLine(statement) ||
    !onOwnLine(first) ||
    file.says(/\bout_of_memory\b/)
  )
    return null;
  let tied = false;
  for (const one of handler.body)
    walk(one, (node) => {
      // A bare `raise`, or the error itself, exist only inside the handler.
      if ((node.kind === "Raise" && !node.value) || (node.kind === "Name" && node.id === handler.name))
        tied = true;
      return !tied;
    });
  if (tied) return null;
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  const outer = indentAt(file, statement.start);
  const inner = indentAt(file, first.start);
  return {
    grade: "unsafe",
    title: "Retry after the except block",
    edits: [
      { start: statement.start, end: statement.start, text: `out_of_memory = False${ending}${outer}` },
      {
        start: first.start,
        end: first.start,
        text: `out_of_memory = True${ending}${outer}if out_of_memory:${ending}${inner}`,
      },
    ],
  };
}

function catchesOutOfMemory(handler: Handler, facts: Facts): boolean {
  const types = handler.type?.kind === "Tuple" ? handler.type.items : handler.type ? [handler.type] : [];
  const names = types.map((type) => facts.file.dotted(type) ?? "");
  return (
    names.some((name) => name.endsWith("OutOfMemoryError")) ||
    // Whoever empties the cache there expects to have run out.
    (/^(?:builtins\.(?:Exception|RuntimeError))?$/.test(names.join()) &&
      facts.file.callsNamed("empty_cache").some((call) => contains(handler, call))) ||
    ((names.includes("builtins.RuntimeError") ||
      (facts.guesses && /^(?:builtins\.(?:Base)?Exception)?$/.test(names.join()))) &&
      /out of memory|is_oom|oom|memory["'] (?:not )?in /i.test(facts.file.textOf(handler)))
  );
}

/** A call of the handler that the attempt made too, and that is no bookkeeping. */
function repeated(statement: Try, handler: Handler, facts: Facts): Call | null {
  const tried = new Set<string>();
  const bookkeeping =
    /^(?:print|log\w*|warn\w*|zero_grad|empty_cache|collect|append|format|str|write|info|update|items|keys|values|len|range|to|cuda|get|set_\w+|is_available|join|chunk|split|next|iter|enumerate|dumps?|encode|decode|exit|sleep|time|is_\w+|_is_\w+|\w*oom\w*|\w*error\w*)$/i;
  for (const one of statement.body)
    walk(one, (node) => {
      if (
        node.kind === "Call" &&
        (!bookkeeping.test(tail(node, facts)) || isCoder(node, facts)) &&
        !/profil|logger|writer|record|snapshot|monitor/i.test(facts.file.textOf(node.func))
      )
        tried.add(facts.file.textOf(node.func));
    });
  // A function that calls itself tries again too.
  const around = functionOf(statement);
  if (around?.kind === "FunctionDef") {
    tried.add(around.name);
    tried.add(`self.${around.name}`);
  }
  let found: Call | null = null;
  // What was tried is a step: any other run of a network, here or by a function that is asked, is another try at it.
  const isRun = (node: Call): boolean =>
    facts.backwards.some(({ call }) => call === node) ||
    isNetwork(node.func, facts) ||
    facts.callee(node)?.reachesBackward === true ||
    runsGiven(node, facts);
  let runs = false;
  for (const one of statement.body)
    walk(one, (node) => {
      if (node.kind === "Call" && isRun(node)) runs = true;
      return !runs;
    });
  // `self.half_step(batch)`, after `self.step(batch)`: another way to do it with the same things.
  const handed = (call: Call): string[] =>
    call.args.flatMap(({ value }) => (value.kind === "Name" ? [value.id] : []));
  const given = new Set<string>();
  if (facts.guesses)
    for (const one of statement.body)
      walk(one, (node) => {
        if (node.kind === "Call" && tried.has(facts.file.textOf(node.func)))
          for (const id of handed(node)) given.add(id);
      });
  const isLike = (node: Call): boolean =>
    !bookkeeping.test(tail(node, facts)) &&
    !/log|print|warn|save|dump|free|clear|clean|skip|report|record|delete|detach|half$/i.test(
      tail(node, facts),
    ) &&
    !/^(?:builtins|torch|numpy)\./.test(facts.file.dotted(node.func) ?? "") &&
    handed(node).some((id) => given.has(id) && id !== handler.name);
  for (const one of handler.body)
    walk(one, (node) => {
      if (
        node.kind === "Call" &&
        (tried.has(facts.file.textOf(node.func)) ||
          (runs && isRun(node)) ||
          (facts.guesses && isLike(node))) &&
        !(facts.file.dotted(node.func) ?? "").startsWith("builtins.")
      )
        found ??= node;
      return found === null;
    });
  return found;
}

/** `in_tiles(net, x)`, a function of this file that runs the network it is given. */
function runsGiven(call: Call, facts: Facts): boolean {
  const { file } = facts;
  return call.args.some((arg) => {
    const param = isNetwork(arg.value, facts) ? paramGiven(call, arg, file) : null;
    const fn = param?.parent;
    return (
      fn?.kind === "FunctionDef" &&
      file
        .callsNamed(param!.name)
        .some(({ func, start }) => func.kind === "Name" && fn.start < start && start < fn.end)
    );
  });
}

/** `self.vae.decode(latents)`, not `name.decode("utf-8")`. */
function isCoder({ func }: Call, facts: Facts): boolean {
  return func.kind === "Attribute" && /^(?:en|de)code$/.test(func.attr) && isNetwork(func.value, facts);
}

function tail(call: Call, facts: Facts): string {
  return call.func.kind === "Attribute" ? call.func.attr : facts.file.textOf(call.func).slice(0, 60);
}

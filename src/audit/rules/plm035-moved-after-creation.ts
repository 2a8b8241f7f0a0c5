import { argument, keyword, positional } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import {
  FACTORIES,
  HOST_FACTORIES,
  LIKE_FACTORIES,
  RANDOM_FACTORIES,
  VARIABLE,
  last,
} from "../facts/torch-names.ts";
import type { Edit, Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM035",
    name: "moved-after-creation",
    summary: "A tensor is made on the host and copied to the device, where it could have been made",
    severity: "note",
    fix: "safe",
    patterns: [35],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.callsNamed("to", "cuda", "type_as")) {
      if (call.func.kind !== "Attribute" || !/^(?:to|cuda|type_as)$/.test(call.func.attr)) continue;
      const made =
        madeBy(call.func.value, facts) ?? (facts.guesses ? likelyMade(call.func.value, facts) : null);
      if (!made) {
        yield* handedOver(call, facts);
        continue;
      }
      const apart = made !== call.func.value;
      const name = factory(made, facts);
      if (name === null) continue;
      const device = call.func.attr === "cuda" && call.args.length === 0 ? '"cuda"' : deviceText(call, facts);
      const likeTensor = device === null && goesToTensor(call, facts);
      const likely = facts.guesses && isLikelyMoved(call, facts);
      if (device === null && !likeTensor && call.func.attr !== "cuda" && !likely) continue;
      const hot = facts.everyStep(call);
      // Where nothing says that a step runs through it, and where it is cannot be told, it may be once.
      if (facts.guesses && hot === null) continue;
      const dtype = keyword(call, "dtype")?.value ?? positional(call, 1);
      const edits: Edit[] = [
        ...addKeyword(
          made,
          `device=${device}${dtype && !keyword(made, "dtype") ? `, dtype=${file.textOf(dtype)}` : ""}`,
          file,
        ),
        { start: made.end, end: call.end, text: "" },
      ];
      yield {
        at: call,
        ...(hot ? { severity: "warning" as const } : {}),
        message: told(name, hot !== null),
        ...(apart || device === null || !isSame(made, call, facts)
          ? {}
          : {
              fix: {
                grade: RANDOM_FACTORIES.has(last(name)) || dtype ? ("unsafe" as const) : ("safe" as const),
                title: "Make it on the device",
                edits,
              },
            }),
      };
    }
  },
};

/**
 * Whether it is the same if made there. `cuda(None)` is the current GPU, and `device=None` the host; only the host's memory is
 * pinned; a copy of what requires gradients is no leaf; and two types are one conversion more than one.
 */
function isSame(made: Call, call: Call, facts: Facts): boolean {
  if (keyword(made, "pin_memory") || keyword(made, "requires_grad")) return false;
  // `torch.normal(means, deviations)` is where these are, and takes no device.
  if (lastWord(made.func) === "normal" && !argument(made, "size", 2)) return false;
  if (keyword(made, "dtype") && (keyword(call, "dtype") || positional(call, 1))) return false;
  if (lastWord(call.func) !== "cuda") return true;
  const to = argument(call, "device", 0);
  return to === null || isSomeDevice(to, facts);
}

/** `0`, `"cuda:1"`, `torch.device("cuda", rank)`, `dist.get_rank()`, also by a name that is always one of these. */
function isSomeDevice(expr: Expr, facts: Facts, depth = 0): boolean {
  if (expr.kind === "Num" || expr.kind === "Str") return true;
  if (expr.kind === "Call")
    return /^(?:torch\.(?:device|cuda\.current_device|distributed\.get_(?:node_local_)?rank)|builtins\.int)$/.test(
      facts.file.dotted(expr.func) ?? "",
    );
  const made = expr.kind === "Name" && depth < 4 ? facts.file.scopes.reaching(expr) : [];
  return (
    made.length > 0 &&
    made.every(
      ({ how, value }) => how === "assign" && value !== null && isSomeDevice(value, facts, depth + 1),
    )
  );
}

/** `.to(gpu)`, `.to(self.dev)`, `.type_as(x)`: to a place, by its name. */
function isLikelyMoved(call: Call, { file }: Facts): boolean {
  if (lastWord(call.func) === "type_as") return true;
  const to = argument(call, "device", 0);
  return (
    to !== null &&
    /(?:^|_|\b)(?:dev|device|gpu|cuda|rank|local_rank)\w*$/i.test(lastWord(to) || file.textOf(to))
  );
}

/**
 * The factory behind arithmetic with numbers, or behind a name that is only read besides: `u = torch.rand(n)`, then
 * `(u * 0.9 + 0.1).to(device)`.
 */
function likelyMade(expr: Expr, facts: Facts, depth = 0): Call | null {
  if (depth > 6) return null;
  const again = (inner: Expr): Call | null => likelyMade(inner, facts, depth + 1);
  if (expr.kind === "Binary") {
    const plain = (side: Expr): boolean =>
      side.kind === "Num" || side.kind === "Attribute" || side.kind === "Unary";
    if (plain(expr.right)) return again(expr.left);
    if (plain(expr.left)) return again(expr.right);
    const [left, right] = [again(expr.left), again(expr.right)];
    return right === null ? null : left;
  }
  if (expr.kind === "Compare") return expr.rights.length === 1 ? again(expr.left) : null;
  if (expr.kind === "Unary") return again(expr.operand);
  if (expr.kind === "Name") {
    const { scopes } = facts.file;
    const [one, ...more] = scopes.reaching(expr);
    if (more.length > 0 || one?.how !== "assign" || one.value === null) return null;
    const uses = scopes.uses(one);
    // What is filled piece by piece is filled on the host.
    const isRead = (use: Expr): boolean =>
      use === expr ||
      (use.parent?.kind === "Attribute" &&
        /^(?:shape|size|device|dtype|dim|numel|is_cuda)$/.test(use.parent.attr));
    return uses.length <= 3 && uses.every(isRead) ? again(one.value) : null;
  }
  return expr.kind === "Call" || expr.kind === "Subscript" ? madeBy(expr, facts) : null;
}

/** `torch.FloatTensor(n, 1).uniform_(0, 1)`, as older code has it: the sizes, and what fills it. */
function isFilledAnew({ func, parent }: Call, { file }: Facts): boolean {
  return (
    /^torch\.(?:\w+)?Tensor$/.test(file.dotted(func) ?? "") &&
    parent?.kind === "Attribute" &&
    FILLS.test(parent.attr) &&
    parent.parent?.kind === "Call"
  );
}

const FILLS = /^(?:uniform_|normal_|fill_|zero_|random_|bernoulli_|exponential_)$/;

/** "zeros" of a `torch.zeros(n)` that fills host memory. */
function factory(made: Call, facts: Facts): string | null {
  const dotted = facts.file.dotted(made.func);
  const name = dotted === null ? "" : last(dotted);
  if (dotted !== `torch.${name}`) return null;
  if (isFilledAnew(made, facts)) return name;
  if (
    LIKE_FACTORIES.has(name)
      ? !isOnHost(positional(made, 0), facts)
      : !FACTORIES.has(name) || HOST_FACTORIES.has(name)
  )
    return null;
  return keyword(made, "device") ||
    isEmpty(made) ||
    made.args.some((arg) => arg.star === 2) ||
    keyword(made, "out") ||
    keyword(made, "generator")
    ? null
    : name;
}

/** A batch that is sent to the device only afterwards: `noise = torch.randn_like(x).to(device)`, then `x = x.to(device)`. */
function isOnHost(expr: Expr | null, facts: Facts): boolean {
  if (expr?.kind !== "Name") return false;
  const { scopes } = facts.file;
  const [one, ...more] = scopes.reaching(expr);
  if (!one || more.length > 0) return false;
  return scopes.uses(one).some((use) => {
    const call = use.parent?.kind === "Attribute" ? use.parent.parent : null;
    const kept = call?.parent?.kind === "Assign" ? call.parent.targets[0] : null;
    return (
      call?.kind === "Call" &&
      use.start > expr.start &&
      kept?.kind === "Name" &&
      kept.id === expr.id &&
      use.parent?.kind === "Attribute" &&
      (use.parent.attr === "cuda" || (use.parent.attr === "to" && deviceText(call, facts) !== null))
    );
  });
}

/** `self.place(torch.zeros(n))`, where `place` does nothing but send its argument to the device. */
function* handedOver(call: Call, facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (call.parent?.kind !== "Return" || call.func.kind !== "Attribute") return;
  const { value } = call.func;
  const wraps = value.kind === "Call" && VARIABLE.test(file.dotted(value.func) ?? "");
  const sent = wraps ? positional(value, 0) : value;
  const [one, ...more] = sent?.kind === "Name" ? file.scopes.reaching(sent) : [];
  if (one?.how !== "param" || more.length > 0) return;
  if (call.func.attr !== "cuda" && deviceText(call, facts) === null) return;
  for (const handed of handedIn(one, file, true)) {
    const name = handed.kind === "Call" ? factory(handed, facts) : null;
    if (name === null) continue;
    const hot = facts.everyStep(handed);
    if (facts.guesses && hot === null) continue;
    yield { at: handed, ...(hot ? { severity: "warning" as const } : {}), message: told(name, hot !== null) };
  }
}

function told(name: string, hot: boolean): string {
  // The older constructors take no device.
  const there = name.endsWith("Tensor") ? "`torch.empty(…, device=…)`" : "with `device=` it";
  return `\`torch.${name}\` ${name.startsWith("empty") ? "takes" : "fills"} host memory that is then copied to the device${hot ? ", on every step" : ""}; ${there} is made there`;
}

/** `torch.empty(0)`, `torch.zeros(n, 0)`: there is nothing to copy. */
function isEmpty({ func, args }: Call): boolean {
  if (func.kind !== "Attribute" || !/^(?:empty|zeros|ones|randn?)$/.test(func.attr)) return false;
  const sizes = args.filter(({ name }) => name === null).map(({ value }) => value);
  return sizes
    .flatMap((size) => (size.kind === "Tuple" || size.kind === "List" ? size.items : [size]))
    .some((size) => size.kind === "Num" && size.text === "0");
}

const RESHAPES =
  /^(?:bool|float|half|long|int|bfloat16|view|reshape|unsqueeze|squeeze|expand|repeat|t|transpose|triu|tril|fill_|normal_|uniform_|zero_|random_|bernoulli_|exponential_|requires_grad_|contiguous|mul|div|add)$/;

/** `.to(x)`, `.type_as(x)`: where another tensor is. */
function goesToTensor(call: Call, facts: Facts): boolean {
  const to = call.args.length === 1 ? positional(call, 0) : null;
  return (
    to?.kind === "Name" &&
    !/dtype|device/.test(to.id) &&
    /^(?:tensor|output)$/.test(facts.value(to).what) &&
    facts.isAccelerator(facts.value(to).device)
  );
}

/** The factory itself, or the one a name was just given and that nothing else reads. */
function madeBy(expr: Expr, facts: Facts): Call | null {
  // `(torch.rand(n) > 0.1)`, `2 * torch.rand(n)`
  if (expr.kind === "Compare" && expr.rights.every((right) => right.kind === "Num"))
    return expr.left.kind === "Call" ? madeBy(expr.left, facts) : null;
  if (expr.kind === "Binary") {
    const made = expr.right.kind === "Num" ? expr.left : expr.left.kind === "Num" ? expr.right : null;
    return made && made.kind !== "Name" ? madeBy(made, facts) : null;
  }
  // `torch.eye(3)[None]`
  if (expr.kind === "Subscript" && expr.value.kind === "Call") return madeBy(expr.value, facts);
  if (expr.kind === "Call") {
    // `torch.triu(torch.ones(n, n)).bool()`: what is done on the way can be done there.
    const name = facts.file.dotted(expr.func);
    if (name !== null && VARIABLE.test(name)) {
      const wrapped = positional(expr, 0);
      return expr.args.length === 1 && wrapped ? madeBy(wrapped, facts) : null;
    }
    const inner =
      name === null && expr.func.kind === "Attribute" && RESHAPES.test(expr.func.attr)
        ? expr.func.value
        : name !== null && /^torch\.(?:tril|triu|unsqueeze|reshape|square|sqrt|exp)$/.test(name)
          ? positional(expr, 0)
          : null;
    if (inner?.kind === "Call") return madeBy(inner, facts);
    // `(1 - torch.triu(torch.ones(n, n))).bool()`
    const within = inner?.kind === "Binary" || inner?.kind === "Compare" ? madeBy(inner, facts) : null;
    return within ?? expr;
  }
  if (expr.kind !== "Name") return null;
  const [one, ...more] = facts.file.scopes.reaching(expr);
  if (more.length > 0 || one?.how !== "assign" || one.value?.kind !== "Call") return null;
  return facts.file.scopes.uses(one).length === 1 ? one.value : null;
}

/** The text of an argument that is certainly a device: `.to()` takes dtypes and tensors too. */
function deviceText(call: Call, facts: Facts): string | null {
  // Beside the device there may be a type, and how to copy.
  const others = call.args.filter(
    ({ name }) => name !== "non_blocking" && name !== "device" && name !== "dtype",
  );
  const [first, second] = keyword(call, "device") ? [null, others[0]] : others;
  if (others.length > (first === null ? 1 : 2) || (second && second.name !== null)) return null;
  if (second && !(facts.file.dotted(second.value) ?? "").startsWith("torch.")) return null;
  const arg = argument(call, "device", 0);
  if (!arg || facts.device(arg) === "cpu") return null;
  return keyword(call, "device") || isDevice(arg, facts) ? facts.file.textOf(arg) : null;
}

function isDevice(expr: Expr, facts: Facts): boolean {
  return facts.isAccelerator(facts.device(expr)) || (expr.kind === "Attribute" && expr.attr === "device");
}

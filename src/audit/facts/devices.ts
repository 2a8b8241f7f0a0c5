import { isOfStar, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, lastWord, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Stmt, Subscript } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Device, Value } from "./value.ts";

/** Devices that results are sent to, away from where they were computed. */
const ELSEWHERE = /^(?:out|output|stor\w*|save|offload|result|host|cpu|dst|dest|target)_/i;

/** What people call a device, or the number of one. */
const NAMED = /device$|^(?:dev|dvc|gpu|gpu_id|device_id|rank|local_rank)$/i;

/** What people call the numbers of several. */
const SEVERAL = /^(?:gpus|(?:cuda_)?devices|(?:gpu|device)_(?:ids|list|nums)|gpu_?ids|cuda_ids)$/i;

/** What chooses one at run time: `get_device(cfg)`, `accelerator.device_name(rank)`. */
const CHOOSES = /device(?:_name)?$|^dev$/i;

/** Whether what is called chooses the device of the training. */
function choosesDevice({ func }: Call): boolean {
  const name = lastWord(func);
  return CHOOSES.test(name) && !ELSEWHERE.test(name);
}

/**
 * Where a device expression points. `"cuda" if available else "cpu"` means the accelerator: that is where it matters.
 */
export function deviceOf(
  expr: Expr | null,
  file: PythonFile,
  valueOf: (expr: Expr) => Value,
  depth = 0,
): Device {
  const follow = (next: Expr | null): Device => deviceOf(next, file, valueOf, depth + 1);
  if (!expr || depth > 10) return "unknown";
  switch (expr.kind) {
    case "Str":
      return expr.value === null
        ? /cuda|xpu|mps|hpu|npu/.test(file.textOf(expr))
          ? "accelerator"
          : "unknown"
        : expr.value.startsWith("cpu")
          ? "cpu"
          : /^(?:cuda|xpu|mps|hpu|npu|tpu|xla)/.test(expr.value)
            ? "accelerator"
            : "unknown";
    case "Num":
      return "accelerator";
    // `rank % torch.cuda.device_count()`, `"cuda:" + number`, `"cuda:%d" % number`
    case "Binary":
      if (expr.op === "%" && /device_count\(/.test(file.textOf(expr.right))) return "accelerator";
      return expr.left.kind === "Str" ? follow(expr.left) : "unknown";
    case "IfExp": {
      const [a, b] = [follow(expr.body), follow(expr.orelse)];
      return a === "accelerator" || b === "accelerator" ? "accelerator" : a === b ? a : "unknown";
    }
    case "Call": {
      const name = file.dotted(expr.func);
      if (name === "torch.device") {
        const given = positional(expr, 0);
        const device = follow(given);
        // Chosen at run time: the device the training is for.
        return device === "unknown" && given !== null ? "network" : device;
      }
      // `"cuda:{}".format(number)`
      if (expr.func.kind === "Attribute" && expr.func.attr === "format" && expr.func.value.kind === "Str")
        return follow(expr.func.value);
      // `config.get("device", "cuda")`
      if (expr.func.kind === "Attribute" && expr.func.attr === "get" && name === null) {
        const [key, otherwise] = [positional(expr, 0), follow(positional(expr, 1))];
        return otherwise === "unknown" && key?.kind === "Str" ? settingOf(key.value) : otherwise;
      }
      // `int(os.environ["LOCAL_RANK"])`
      const rank =
        name === "torch.distributed.get_rank" ||
        (name === "builtins.int" && /LOCAL_RANK/.test(file.textOf(expr)));
      if (rank || name === "torch.cuda.current_device" || name === "torch.accelerator.current_accelerator")
        return "accelerator";
      if (!choosesDevice(expr)) return "unknown";
      // `x.get_device()` is where that is.
      const of = expr.func.kind === "Attribute" && name === null ? valueOf(expr.func.value) : null;
      return of?.what === "tensor" || of?.what === "output" ? of.device : "network";
    }
    case "Name": {
      // `from config import *`: one of these modules has it.
      if (NAMED.test(expr.id) && !ELSEWHERE.test(expr.id) && isOfStar(expr, file)) return "network";
      const devices = new Set(
        file.scopes.reaching(expr).map(({ how, value, name }) => {
          const said = how === "assign" ? follow(value) : "unknown";
          // Handed in, imported, or what a setup returns: `ddp, rank, device = init()`.
          return said === "unknown" &&
            (/^(?:param|unpack|import)$/.test(how) || value?.kind === "Call") &&
            NAMED.test(name) &&
            !ELSEWHERE.test(name)
            ? "network"
            : said;
        }),
      );
      // The host is for whoever has nothing else.
      if (devices.size === 2 && devices.has("cpu")) devices.delete("cpu");
      return devices.size === 1 ? [...devices][0]! : "unknown";
    }
    case "Attribute": {
      if (expr.attr !== "device" && !NAMED.test(expr.attr)) return "unknown";
      if (expr.value.kind === "Name" && /accelerator|fabric/i.test(expr.value.id)) return "accelerator";
      const own = selfAttribute(expr);
      const cls = own === null ? null : classOf(expr);
      const [first, ...more] = ((cls && attributesOf(cls, file).get(own!)?.writes) ?? []).map(
        ({ value }) => value && follow(value),
      );
      // `self.device = "cpu"`, and below `if available: self.device = torch.cuda.current_device()`.
      if (first) return first === "cpu" && more.includes("accelerator") ? "accelerator" : first;
      if (expr.attr !== "device") return ELSEWHERE.test(expr.attr) ? "unknown" : "network";
      const { what, device } = valueOf(expr.value);
      return (what === "tensor" || what === "output") && device !== "unknown" ? device : "network";
    }
    // `config["train"]["device"]`, `opt.gpus[0]`
    case "Subscript":
      return expr.index.kind === "Str"
        ? settingOf(expr.index.value)
        : expr.index.kind !== "Slice" && SEVERAL.test(lastWord(expr.value))
          ? ofSeveral(expr, file, follow)
          : "unknown";
    default:
      return "unknown";
  }
}

/** `devices[0]`: where one of those that are written down above is, or else where the training runs. */
function ofSeveral(
  { value, index }: Subscript,
  file: PythonFile,
  follow: (next: Expr | null) => Device,
): Device {
  const made = value.kind === "Name" ? file.scopes.onlyValue(value) : null;
  if (made?.kind !== "List" && made?.kind !== "Tuple") return "network";
  return index.kind === "Num" ? follow(made.items[Number(index.text)] ?? null) : "unknown";
}

/** A device that a setting of this name chooses. */
function settingOf(key: string | null): Device {
  return key !== null && NAMED.test(key) && !ELSEWHERE.test(key) ? "network" : "unknown";
}

/** `if torch.cuda.is_available(): x = Variable(x.cuda())`, `else: x = Variable(x)`. */
export function isChoiceOfDevice(
  { node: one }: Definition,
  { node: other }: Definition,
  file: PythonFile,
): boolean {
  const [a, b] = [statementOf(one), statementOf(other)];
  const test = a?.parent;
  return (
    (b !== null && sendsOn(b, file) && !(a !== null && contains(b.parent!, a))) ||
    (test?.kind === "If" &&
      b?.parent === test &&
      test.body.includes(a as never) !== test.body.includes(b as never) &&
      /cuda|gpu|parallel|distributed|amp\b|fp16/i.test(file.textOf(test.test)))
  );
}

/** `if torch.cuda.is_available(): x = x.cuda()`, of whatever `x` was before. */
function sendsOn(statement: Stmt, file: PythonFile): boolean {
  const { parent } = statement;
  if (parent?.kind !== "If" || statement.kind !== "Assign" || !parent.body.includes(statement)) return false;
  const { value, targets } = statement;
  return (
    value.kind === "Call" &&
    value.func.kind === "Attribute" &&
    /^(?:cuda|to)$/.test(value.func.attr) &&
    value.func.value.kind === "Name" &&
    targets[0]?.kind === "Name" &&
    targets[0].id === value.func.value.id &&
    /cuda|gpu/i.test(file.textOf(parent.test))
  );
}

import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM064",
    name: "cudnn-benchmark-with-varying-shapes",
    summary: "cuDNN searches for its fastest algorithm, yet the shapes of the batches vary",
    severity: "note",
    fix: "unsafe",
    patterns: [64],
  },
  *check(facts) {
    const { file } = facts;
    const given = file.calls.given(["benchmark"]);
    const set = file.assignsTo("benchmark");
    const pairs = file.mentions("cudnn") ? setTogether(file) : [];
    if ((given.length === 0 && set.length === 0 && pairs.length === 0) || !isVarying(facts)) return;
    let on = pairs.length > 0;
    for (const value of pairs) yield report(value, value);
    for (const call of given) {
      const flag = /^(?:pytorch_)?lightning\.(?:pytorch\.)?Trainer(?:\.from_argparse_args)?$/.test(
        file.dotted(call.func) ?? "",
      )
        ? keyword(call, "benchmark")
        : null;
      if (flag && isTrue(flag.value)) yield report(flag, flag.value);
    }
    // `with cudnn.flags(benchmark=True):`
    for (const call of file.callsNamed("flags")) {
      const flag = keyword(call, "benchmark");
      if (flag && isTrue(flag.value) && file.dotted(call.func) === "torch.backends.cudnn.flags")
        yield report(flag, flag.value);
    }
    for (const statement of set) {
      const [target] = statement.targets;
      if (!target || file.dotted(target) !== "torch.backends.cudnn.benchmark" || !isTrue(statement.value))
        continue;
      on = true;
      yield report(statement, statement.value);
    }
    for (const call of on ? file.callsNamed("interpolate", "upsample", "resize", "center_crop") : [])
      if (isRandomResize(call, file))
        yield {
          at: call,
          message:
            "Each size that comes out here is a new shape, for which cuDNN, told so in this program, tries all its algorithms",
        };
  },
};

/** `cudnn.benchmark, cudnn.deterministic = True, False` */
function setTogether(file: PythonFile): readonly Expr[] {
  return file.all("Assign").flatMap(({ targets: [target], value }) => {
    if (target?.kind !== "Tuple" || value.kind !== "Tuple") return [];
    const at = target.items.findIndex((item) => file.dotted(item) === "torch.backends.cudnn.benchmark");
    const given = value.items[at];
    return given && isTrue(given) ? [given] : [];
  });
}

function report(at: Node, value: Expr): Finding {
  return {
    at,
    message:
      "For every new shape cuDNN tries all its algorithms, with their workspaces, before it runs one; batches of varying size keep bringing new shapes",
    fix: {
      grade: "unsafe",
      title: "Switch the search off",
      edits: [{ start: value.start, end: value.end, text: "False" }],
    },
  };
}

/** Batches padded to their own longest member, or resized at random: each is a new shape. */
function isVarying(facts: Facts): boolean {
  const { file } = facts;
  return (
    file.all("Call").some((call) => {
      const name = file.dotted(call.func) ?? "";
      // `model(features, lengths)`: padded to the longest.
      if (name === "" && call.args.some(({ value }) => value.kind === "Name" && LENGTHS.test(value.id)))
        return isNetwork(call.func, facts);
      if (RESIZES.test(name)) return isRandomResize(call, file);
      return (
        // Detectors resize each image by its own sides.
        /^torchvision\.models\.detection\.\w*(?:rcnn|retinanet|fcos)\w*$/.test(name) ||
        /^torch\.nn\.utils\.rnn\.(?:pad_sequence|pack_padded_sequence)$/.test(name) ||
        /^transformers\.DataCollator(?:WithPadding|ForSeq2Seq|ForTokenClassification|CTCWithPadding)$/.test(
          name,
        ) ||
        call.args.some(
          (arg) => arg.name === "padding" && arg.value.kind === "Str" && arg.value.value === "longest",
        )
      );
    }) ||
    file.all("FunctionDef").some((fn) => isCollate(fn, file) && padsToLongest(fn, file)) ||
    // `wave[..., :n]` with another n each time; a window of one length that starts anywhere is no new shape.
    file.all("Slice").some(({ lower, upper }) => {
      if (!upper || !isRandom(upper, file, 0)) return !upper && lower !== null && isRandom(lower, file, 0);
      return lower === null || !isRandom(lower, file, 0);
    })
  );
}

const LENGTHS = /(?:^|_)(?:lens|lengths?)$|_len$/;

const RESIZES =
  /^(?:torch\.nn\.functional\.(?:interpolate|upsample)|torchvision\.transforms\.(?:v2\.)?functional\.(?:resize|center_crop))$/;

function isRandomResize(call: Call, file: PythonFile): boolean {
  return (
    RESIZES.test(file.dotted(call.func) ?? "") &&
    call.args.some(
      ({ name: key, value }, at) =>
        (key === "size" || key === "scale_factor" || (key === null && (at === 1 || at === 2))) &&
        isRandom(value, file, 0),
    )
  );
}

function isRandom(expr: Expr, file: PythonFile, depth: number): boolean {
  if (depth > 8) return false;
  if (expr.kind === "Tuple" || expr.kind === "List")
    return expr.items.some((item) => isRandom(item, file, depth + 1));
  if (expr.kind === "Name")
    return file.scopes.reaching(expr).some(({ value }) => value !== null && isRandom(value, file, depth + 1));
  if (expr.kind === "Binary")
    return isRandom(expr.left, file, depth + 1) || isRandom(expr.right, file, depth + 1);
  if (expr.kind === "Subscript")
    return isRandom(expr.value, file, depth + 1) || isRandom(expr.index, file, depth + 1);
  if (expr.kind !== "Call") return false;
  const name = file.dotted(expr.func) ?? "";
  if (/^(?:random|numpy\.random)\.|^torch\.(?:randint|rand|randperm)$/.test(name)) return true;
  // `int(torch.randint(…))`, `torch.randint(…).item()`.
  if (name === "builtins.int")
    return expr.args[0] !== undefined && isRandom(expr.args[0].value, file, depth + 1);
  return expr.func.kind === "Attribute" && /^(?:item|tolist|choice|integers)$/.test(expr.func.attr)
    ? isRandom(expr.func.value, file, depth + 1)
    : false;
}

/** Named so, handed to a loader as its `collate_fn`, or called by a class that is. */
function isCollate(fn: FunctionDef, file: PythonFile): boolean {
  const cls = fn.parent?.kind === "ClassDef" ? fn.parent.name : "";
  return (
    /collate|pad_batch|make_batch/i.test(fn.name) ||
    (fn.name === "__call__" && /collat|pad/i.test(cls)) ||
    file.calls.given(["collate_fn"]).some((call) => {
      const given = keyword(call, "collate_fn")!.value;
      return given.kind === "Name" && file.dotted(given) === file.qualified(fn);
    })
  );
}

/** `max(len(x) for x in batch)`, or of a list of lengths. */
function padsToLongest(fn: FunctionDef, file: PythonFile): boolean {
  return file
    .callsNamed("max")
    .some(
      (call) =>
        contains(fn, call) &&
        (file.dotted(call.func) === "builtins.max" || call.func.kind === "Attribute") &&
        /len|size|shape/i.test(file.textOf(call)),
    );
}

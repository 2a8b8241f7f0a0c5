import { hasStars, isNone, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, functionOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { addKeyword } from "../edits.ts";
import { given, hidesArguments } from "../facts/arguments.ts";
import { isPlacedLater } from "../facts/placed-later.ts";
import type { Rule } from "../rule.ts";

const BACK =
  "The tensors come back on the device they were saved from, beside the model that they are copied into";

const EVERY_RANK =
  "Every process loads onto the device the file was saved from, usually the first one: its memory holds one copy for each rank";

/** `torch.hub.load_state_dict_from_url` and what it was called before. */
const DOWNLOADS = ["load_state_dict_from_url", "load_url"];

const SMALL =
  /sched|scaler|rng|random|feature|dataset|vocab|meta|stats|corpus|cache(?!d_(?:path|file|download))|shape/i;

export const rule: Rule = {
  meta: {
    code: "PLM049",
    name: "loaded-onto-saved-device",
    summary: "`torch.load` without `map_location` puts every tensor back on the device it was saved from",
    severity: "note",
    fix: "unsafe",
    patterns: [49, 82],
  },
  *check(facts) {
    if (facts.file.callsNamed("load", "partial", ...DOWNLOADS).length === 0) return;
    const { file } = facts;
    if (!facts.accelerator) return;
    const distributed =
      file.says(/init_process_group|DistributedDataParallel|LOCAL_RANK/) &&
      // Ranks that stay on the host save from there.
      file.says(/cuda|nccl|\bnpu\b|\bxpu\b|accelerator|local_rank/i);
    /** In the function that sets the ranks up, or wraps the model: elsewhere it may be a tool of one process. */
    const amongRanks = (call: Call): boolean =>
      distributed &&
      /init_process_group|DistributedDataParallel\(|DDP\(|\brank\b|local_rank/i.test(
        file.textOf(functionOf(call) ?? file.tree.module),
      );
    for (const call of file.callsNamed("partial"))
      if (
        file.dotted(call.func) === "functools.partial" &&
        call.args[0] &&
        file.dotted(call.args[0].value) === "torch.load" &&
        !keyword(call, "map_location")
      )
        yield { at: call, message: BACK };
    // Of a download nobody here knows what it was saved from; where ranks are set up, someone else's first device is each one's.
    for (const call of file.callsNamed(...DOWNLOADS))
      if (
        /^torch\.(?:hub|utils\.model_zoo)\./.test(file.dotted(call.func) ?? "") &&
        !given(call, "map_location", file) &&
        !positional(call, 2) &&
        !hidesArguments(call, file) &&
        amongRanks(call) &&
        !isOneRank(call, facts)
      )
        yield { at: call.func, message: EVERY_RANK };
    for (const call of file.callsNamed("load")) {
      if (
        file.dotted(call.func) !== "torch.load" ||
        (keyword(call, "map_location") && !isNone(keyword(call, "map_location")!.value)) ||
        positional(call, 1) ||
        // `**OPTIONS`, where these are written down and say nothing of it, hides nothing.
        (hasStars(call) && (hidesArguments(call, file) || given(call, "map_location", file)))
      )
        continue;
      // A download or a message holds what its sender put in, not what this machine saved.
      const source = positional(call, 0);
      const read =
        source?.kind === "Name" ? file.scopes.reaching(source).map(({ value }) => value) : [source];
      if (
        read.some(
          (one) =>
            one?.kind === "Call" &&
            file.dotted(one.func) === "io.BytesIO" &&
            !isReadHere(positional(one, 0), file),
        )
      )
        continue;
      // Schedules, scalers and random states are a few numbers; features and datasets were made on the host.
      const into = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
      if ((source && SMALL.test(file.textOf(source))) || (into && SMALL.test(file.textOf(into)))) continue;
      // `train_args = torch.load("model_args.pth")`: settings hold no tensors.
      if (into && /(?:^|_)(?:args|config|cfg|hparams|options)$/.test(file.textOf(into))) continue;
      // What each rank has saved for itself comes back to it.
      const ranked = [source, ...read].some((one) => one && /rank/i.test(file.textOf(one)));
      const everywhere = amongRanks(call) && !ranked && !isOneRank(call, facts);
      const none = keyword(call, "map_location");
      yield {
        at: call.func,
        ...(everywhere ? { severity: "warning" as const } : {}),
        message: everywhere ? EVERY_RANK : BACK,
        ...(isBesideHost(call, file) || !isPlacedLater(call, facts)
          ? {}
          : {
              fix: {
                grade: "unsafe" as const,
                title: "Load onto the host",
                edits: none
                  ? [{ start: none.value.start, end: none.value.end, text: '"cpu"' }]
                  : addKeyword(call, 'map_location="cpu"', file),
              },
            }),
      };
    }
  },
};

/**
 * `if torch.cuda.is_available(): load(path)`, `else: load(path, map_location="cpu")`, or the `else` of `if not args.cuda:`: both would
 * be the same, and the test for nothing.
 */
function isBesideHost(call: Call, file: PythonFile): boolean {
  return ancestors(call).some((at) => {
    if (at.kind !== "If" && at.kind !== "IfExp") return false;
    const text = file.textOf(at);
    return (
      /is_available\(\)[^]*map_location/.test(text) ||
      (/cuda|gpu|cpu/i.test(file.textOf(at.test)) &&
        /map_location=(?:["']cpu|torch\.device\(["']cpu|lambda)/.test(text))
    );
  });
}

/** `f.read()` of `with open(path, "rb") as f`: a file all the same. */
function isReadHere(bytes: Expr | null, file: PythonFile): boolean {
  if (bytes?.kind !== "Call" || bytes.func.kind !== "Attribute" || bytes.func.attr !== "read") return false;
  const { value } = bytes.func;
  const from = value.kind === "Name" ? file.scopes.reaching(value)[0]?.value : value;
  return from?.kind === "Call" && file.dotted(from.func) === "builtins.open";
}

/** `if rank == 0:`, `if is_main_process():`. */
function isOneRank(node: Expr, facts: Facts): boolean {
  for (const at of ancestors(node))
    if (
      at.kind === "If" &&
      // One rank's branch, or the branch of a single process beside one that maps.
      (/rank|main_process|is_master|is_main|is_primary/i.test(facts.file.textOf(at.test)) ||
        /map_location/.test(facts.file.textOf(at)))
    )
      return true;
  return false;
}

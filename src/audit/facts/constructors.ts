import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";

/** The class of `Net(…)`, and of `Net(…).to(device).train()`; of `build(…)`, where that is a function of this file, what it returns. */
export function madeBy(call: Call, file: PythonFile): string | null {
  const made = file.dotted(bareCall(call).func);
  if (made === null) return null;
  return (
    className(made) ??
    (made.startsWith(`${file.module}.`) ? (file.once(classesMade).get(made) ?? null) : null)
  );
}

/** By the qualified names of functions of a file, the one class that all they return is of: `def build(args): return Net(args).cuda()`. */
function classesMade(file: PythonFile): ReadonlyMap<string, string> {
  const found = new Map<string, string | null>();
  for (const statement of file.all("Return")) {
    const fn = functionOf(statement);
    const { value } = statement;
    if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module") continue;
    const made = value?.kind === "Name" ? file.scopes.onlyValue(value) : value;
    let type = made?.kind === "Call" ? className(file.dotted(bareCall(made).func)) : null;
    // What is put around a network is not what runs.
    if (type !== null && WRAPPERS.test(type)) type = null;
    const name = file.qualified(fn);
    const before = found.get(name);
    found.set(name, before === undefined || before === type ? type : null);
  }
  return new Map([...found].flatMap(([name, type]) => (type === null ? [] : [[name, type] as const])));
}

/** What a program puts around a network, often for some of its runs only. */
export const WRAPPERS = /(?:^|\.)(?:DistributedDataParallel|DataParallel|FullyShardedDataParallel)$/;

/** Methods of a module that hand back the module itself. */
const ITSELF = /^(?:to|cuda|cpu|train|eval|half|bfloat16|float|double|requires_grad_)$/;

/** `Net(…)` of `Net(…).to(device).train()`. */
export function bareCall(call: Call): Call {
  let made = call;
  while (made.func.kind === "Attribute" && made.func.value.kind === "Call" && ITSELF.test(made.func.attr))
    made = made.func.value;
  return made;
}

/** `net` of `net.to(device)`, and of `torch.nn.SyncBatchNorm.convert_sync_batchnorm(net)`. */
export function movedByItself({ func, args }: Call): Expr | null {
  if (lastWord(func) === "convert_sync_batchnorm") return args[0]?.value ?? null;
  return func.kind === "Attribute" && ITSELF.test(func.attr) ? func.value : null;
}

/** Classes are told from functions by their capital, as nearly all Python code writes them. */
export function className(dotted: string | null): string | null {
  return dotted !== null && /(?:^|\.)_*[A-Z]\w*$/.test(dotted) && !dotted.startsWith("builtins.")
    ? dotted
    : null;
}

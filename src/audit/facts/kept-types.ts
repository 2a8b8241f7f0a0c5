import { isNone, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Attribute, Call, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/** What tensors are made of with the type of that, where they are sent, and where they are made narrower. */

/** What `torch.from_numpy(data)` makes a tensor of, of its own type. */
export function keptType(call: Call, { file }: Facts): Expr | null {
  const makes = /^torch\.(?:from_numpy|tensor|as_tensor)$/.test(file.dotted(call.func) ?? "");
  return makes && !keyword(call, "dtype") ? positional(call, 0) : null;
}

/** An array that somebody makes float32 there, unless it is of bytes or whole numbers by its name: those are better sent as they are. */
export function mayBeWide(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const data = reshaped(keptType(call, facts), file);
  if (data?.kind !== "Name" && data?.kind !== "Attribute") return false;
  const word = lastWord(data);
  if (/^(?:next_)?(?:obs|observations?|states?|actions?)$/.test(word))
    return !file.says(/uint8|255|atari|Conv2d|pixels|images?\b/i);
  if (isOfBytes(data, call, facts)) return false;
  return !WHOLE.test(word) && !/^(?:number|tensor)$/.test(facts.value(data).what);
}

/** `state` of `state.reshape(1, -1)`, `state[None]` and `np.expand_dims(state, 0)`: the same numbers. */
function reshaped(data: Expr | null, file: PythonFile): Expr | null {
  if (data?.kind === "Subscript" && isNone(data.index)) return reshaped(data.value, file);
  if (data?.kind !== "Call") return data;
  const name = file.dotted(data.func);
  if (/^numpy\.(?:expand_dims|reshape|ravel|ascontiguousarray)$/.test(name ?? ""))
    return keyword(data, "dtype") ? data : reshaped(positional(data, 0), file);
  return name === null &&
    data.func.kind === "Attribute" &&
    /^(?:reshape|flatten|ravel|copy)$/.test(data.func.attr)
    ? reshaped(data.func.value, file)
    : data;
}

/** `cv2.imread(path)`, which gives bytes; `torch.tensor(cfg.RANGE)`, which makes float32 of a list that was written down. */
function isOfBytes(data: Expr, call: Call, { file }: Facts): boolean {
  const made = (data.kind === "Name" ? file.scopes.onlyValue(data) : null) ?? data;
  return (
    (made.kind === "Call" && /^(?:imread|imdecode)$/.test(lastWord(made.func))) ||
    (lastWord(call.func) === "tensor" && made.kind === "Attribute" && /^[A-Z][A-Z\d_]+$/.test(made.attr))
  );
}

const WHOLE =
  /im(?:g|age)|frame|mask|label|pixel|pic|photo|target|(?:^|_)(?:ids?|idx|ind\w*|n|num|done|term\w*|lens?|lengths?|count|t|x|y|steps?|time\w*|batch)$|video|token|bool|valid|class|seq/i;

/** `x.float()`, `x.to(torch.float32)` */
export function narrows(call: Call, { file }: Facts): call is Call & { func: Attribute } {
  if (call.func.kind !== "Attribute" || file.dotted(call.func) !== null) return false;
  if (call.func.attr !== "to") return call.args.length === 0;
  const type = call.args.length === 1 ? (keyword(call, "dtype")?.value ?? positional(call, 0)) : null;
  return type !== null && /^torch\.(?:b?float16|float32|float|half)$/.test(file.dotted(type) ?? "");
}

/** `x.to(device)`, with no type beside. */
export function isOnlySent(call: Call, facts: Facts): boolean {
  return !keyword(call, "dtype") && positional(call, 1) === null && toDevice(call, facts);
}

export function toDevice(call: Call, facts: Facts): boolean {
  const arg = keyword(call, "device")?.value ?? positional(call, 0);
  return (
    arg !== null &&
    ((arg.kind === "Attribute" && arg.attr === "device") || facts.isAccelerator(facts.device(arg)))
  );
}

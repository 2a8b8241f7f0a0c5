import type { Frame } from "./result.ts";

/** The tape's stack text (see Tape), innermost frame first. */
export function parseStack(text: string): Frame[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    // From the right: a Windows path has a colon of its own, and so may a function such as "<lambda>:3".
    const match = /^(.*):(-?\d+):([^:]*)$/.exec(line);
    return match
      ? { file: match[1]!, line: Number(match[2]), function: match[3]! }
      : { file: line, line: 0, function: "" };
  });
}

/** Installed packages, the standard library, and checkouts of the well-known training libraries. */
const INSTALLED =
  /[\\/](?:site|dist)-packages[\\/]|[\\/]lib[\\/]python\d|^<|[\\/]src[\\/](?:transformers|peft|accelerate|trl|diffusers)[\\/]|[\\/]torch[\\/](?:nn|optim|autograd|utils|_dynamo|_inductor)[\\/]|[\\/]plimsoll_probe[\\/]/;

function isUsers(frame: Frame): boolean {
  return frame.file !== "" && frame.file !== "??" && !INSTALLED.test(frame.file);
}

/** The innermost line of the user's own code; null when the stack has none. */
export function userFrame(frames: readonly Frame[]): Frame | null {
  return frames.find(isUsers) ?? null;
}

/**
 * The user's line that called the model: the innermost of the user's frames outside every module call. Whoever keeps
 * a model's output does it there, though the model's own code may be the user's too.
 */
export function callerFrame(frames: readonly Frame[]): Frame | null {
  const outermostCall = frames.findLastIndex((frame) => frame.function === "_call_impl");
  return frames.slice(outermostCall + 1).find(isUsers) ?? userFrame(frames);
}

/** Frames that stand between the line that matters and the allocation: module calls, wrappers, tensor operators. */
const PLUMBING =
  /[\\/]torch[\\/](?!optim[\\/]|serialization|utils[\\/]data[\\/]|distributed[\\/])|[\\/]transformers[\\/](?:utils[\\/]|modeling_layers\.py)|[\\/]accelerate[\\/]utils[\\/]operations\.py|^<frozen|[\\/]contextlib\.py|[\\/]plimsoll_probe[\\/]/;

/** The innermost line that says what was being made: model code, an optimizer, the user's script. */
export function allocationFrame(frames: readonly Frame[]): Frame | null {
  return frames.find((frame) => !PLUMBING.test(frame.file)) ?? frames[0] ?? null;
}

/** torch's own layers by file: the leaf of a module path. */
const LAYERS: Readonly<Record<string, string>> = {
  "linear.py": "Linear",
  "sparse.py": "Embedding",
  "normalization.py": "Norm",
  "batchnorm.py": "BatchNorm",
  "dropout.py": "Dropout",
  "activation.py": "Activation",
  "conv.py": "Conv",
  "pooling.py": "Pooling",
  "rnn.py": "RNN",
  "loss.py": "Loss",
};

const baseName = (file: string): string =>
  file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);

/**
 * Which part of the model, as far as frames tell: they hold file and line, but neither class nor layer number. So a
 * module is the chain of `forward` (or, while loading, `__init__`) lines from the outermost in:
 * "modeling_gpt2.py:682/608/305/240/Linear". Empty when no model code is on the stack.
 */
export function modulePath(frames: readonly Frame[]): string {
  const chain: string[] = [];
  let file = "";
  for (let at = frames.length - 1; at >= 0; at--) {
    const frame = frames[at]!;
    if (frame.function !== "forward" && frame.function !== "__init__") continue;
    const name = baseName(frame.file);
    if (/[\\/]torch[\\/]nn[\\/]modules[\\/]/.test(frame.file)) {
      const layer = LAYERS[name];
      if (layer !== undefined) chain.push(layer);
    } else if (!PLUMBING.test(frame.file) && !/[\\/]peft[\\/](?!tuners[\\/]\w+[\\/])/.test(frame.file)) {
      chain.push(name === file ? String(frame.line) : `${name}:${frame.line}`);
      file = name;
    }
  }
  return chain.join("/");
}

import type { Frame } from "./result.ts";

/** What a stack by itself says about the moment. */
export const StackClass = {
  /** No frames: a C++ thread. In training that is autograd's, which runs backward. */
  frameless: 0,
  /** Code of the user's or of a library with nothing telling on the stack. */
  other: 1,
  /** Building or loading a module. */
  build: 2,
  /** The same, inside PEFT: adapters. */
  adapter: 3,
  forward: 4,
  loss: 5,
  backward: 6,
  clip: 7,
  optimizer: 8,
  zeroGrad: 9,
  evaluation: 10,
  save: 11,
  /** Running the body of a module being imported. */
  imports: 12,
} as const;

const OPTIMIZER =
  /[\\/](?:torch[\\/]optim|bitsandbytes[\\/]optim|apex[\\/]optimizers|deepspeed[\\/]ops[\\/]\w*adam)[\\/]/;
const LOSS_FILE = /[\\/]loss[\\/]|[\\/]loss\.py$|[\\/]loss_utils\.py$/;
const LOSS_FUNCTION = /(?:^|_)(?:cross_entropy|nll_loss|mse_loss|l1_loss|kl_div|compute_loss_func)$|Loss$/;
const EVALUATION = new Set([
  "evaluate",
  "evaluation_loop",
  "prediction_loop",
  "prediction_step",
  "generate",
  "validate",
  "validation_step",
]);
const SAVE = new Set([
  "save_pretrained",
  "save_checkpoint",
  "_save_checkpoint",
  "save_model",
  "_save_optimizer_and_scheduler",
]);
const BUILD = new Set([
  "__init__",
  "from_pretrained",
  "from_config",
  "_from_config",
  "_apply",
  "load_state_dict",
  "load_model",
  "reset_parameters",
  "_load_pretrained_model",
  "prepare_model_for_kbit_training",
]);

/** The most telling frame wins, in the order below: a clip inside an optimizer's step is still the optimizer. */
export function classify(frames: readonly Frame[]): number {
  if (frames.length === 0) return StackClass.frameless;
  const some = (test: (frame: Frame) => boolean): boolean => frames.some(test);
  if (some((f) => f.function === "zero_grad" && /[\\/](?:torch|deepspeed)[\\/]/.test(f.file)))
    return StackClass.zeroGrad;
  if (some((f) => OPTIMIZER.test(f.file))) return StackClass.optimizer;
  if (some((f) => f.function.startsWith("clip_grad_"))) return StackClass.clip;
  if (isBackward(frames)) return StackClass.backward;
  if (
    some(
      (f) =>
        SAVE.has(f.function) || (f.function === "save" && /[\\/]torch[\\/]serialization\.py$/.test(f.file)),
    )
  ) {
    return StackClass.save;
  }
  if (some((f) => EVALUATION.has(f.function))) return StackClass.evaluation;
  if (some((f) => LOSS_FILE.test(f.file) || LOSS_FUNCTION.test(f.function))) return StackClass.loss;
  if (some((f) => f.function === "_call_impl" && /[\\/]nn[\\/]modules[\\/]module\.py$/.test(f.file)))
    return StackClass.forward;
  if (some((f) => f.file.startsWith("<frozen importlib"))) return StackClass.imports;
  if (some((f) => /[\\/]peft[\\/]/.test(f.file))) return StackClass.adapter;
  if (some((f) => BUILD.has(f.function))) return StackClass.build;
  return StackClass.other;
}

/** Either the caller of `backward()`, or autograd's thread running Python: a custom function, a recomputation. */
function isBackward(frames: readonly Frame[]): boolean {
  const outermost = frames.at(-1)!;
  if (/[\\/]torch[\\/](?:autograd|utils[\\/]checkpoint\.py$)/.test(outermost.file)) return true;
  return frames.some(
    (f) =>
      f.function === "_engine_run_backward" || (f.function === "backward" && /[\\/]torch[\\/]/.test(f.file)),
  );
}

import { takeByKey } from "../configs/by-key.ts";
import { Draft } from "../draft.ts";
import { UserError } from "../../base/errors.ts";
import { type Located, placeText } from "../located.ts";
import type { Beside, RecipeFile, RecipeReading } from "../reading.ts";
import { constants } from "./constants.ts";
import { takeLengths } from "./lengths.ts";
import { takeAdapter, takeModel } from "./model.ts";
import { takePlainLoop } from "./plain-loop.ts";
import { Program } from "./program.ts";
import { Survey } from "./survey.ts";
import { takeNamedModel, takeTrainer } from "./trainer.ts";

/** Reads a training script or notebook without running it; null when nothing in it trains. */
export function readScript(file: RecipeFile, beside: Beside): RecipeReading | null {
  const survey = new Survey(new Program(file, beside));
  const draft = new Draft();
  // A trainer given a name loads the model itself: what the script loads is for something else.
  if (!takeNamedModel(draft, survey)) takeModel(draft, survey);
  takeAdapter(draft, survey);
  const framework = takeTrainer(draft, survey, beside) ?? takePlainLoop(draft, survey);
  const [slip] = survey.program.main.file.tree.errors;
  const place = slip && survey.program.main.place({ start: slip.offset });
  if (framework === null) {
    const settings = readConstants(survey, beside);
    if (!settings && slip)
      throw new UserError(
        `${placeText(place!)}: not Python: ${slip.message}`,
        "nothing that trains is before it",
      );
    return settings;
  }
  if (slip) draft.warn(`not Python: ${slip.message}; what follows may be misread`, place);
  takeLengths(draft, survey);
  takeAllocator(draft, survey);
  if (!draft.get("method.quantization")) draft.assume("method.kind", "full", "no adapter is made");
  takeLeftovers(draft, survey);
  return draft.finish(framework, true);
}

/** A module of settings: config.py with TRAINING_CONFIG = {…} and MAX_SEQ_LENGTH = …. */
function readConstants(survey: Survey, beside: Beside): RecipeReading | null {
  const draft = new Draft();
  takeByKey(draft, constants(survey), beside);
  return draft.has("batch") || (draft.has("model") && draft.has("seq"))
    ? draft.finish("Python settings", true)
    : null;
}

const ALLOCATOR = /^PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF$/;

/** os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "…", or setdefault. */
function takeAllocator(draft: Draft, { evaluator, program, sites }: Survey): void {
  const take = (key: Located, value: Located): void => {
    if (typeof key.value !== "string" || !ALLOCATOR.test(key.value) || typeof value.value !== "string")
      return;
    draft.set("allocConf", value.value, key.value, value.place);
  };
  for (const script of program.scripts())
    for (const { targets, value } of script.file.all("Assign"))
      for (const target of targets)
        if (target.kind === "Subscript" && script.file.dotted(target.value) === "os.environ")
          take(evaluator.of(target.index, script), evaluator.of(value, script));
  for (const { name, call, script } of sites)
    if (name === "os.environ.setdefault" && call.args.length === 2)
      take(evaluator.of(call.args[0]!.value, script), evaluator.of(call.args[1]!.value, script));
}

function takeLeftovers(draft: Draft, survey: Survey): void {
  const compiled = survey.sites.find(({ name }) => name === "torch.compile");
  if (compiled) draft.warn("torch.compile is not modelled: the plan is of eager execution", compiled.place);
  if (draft.get("method.kind") === "lora") return;
  for (const script of survey.program.scripts())
    for (const { targets, value, start } of script.file.all("Assign"))
      for (const target of targets)
        if (
          target.kind === "Attribute" &&
          target.attr === "requires_grad" &&
          value.kind === "Const" &&
          value.value === false
        )
          draft.warn("some weights are frozen by hand: all are planned to train", script.place({ start }));
}

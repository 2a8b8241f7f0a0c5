import { UserError } from "../base/errors.ts";
import { isAccelerate, takeAccelerate } from "./configs/accelerate.ts";
import { isAxolotl, takeAxolotl } from "./configs/axolotl.ts";
import { TELLING, takeByKey } from "./configs/by-key.ts";
import { isDeepSpeed, takeDeepSpeed } from "./configs/deepspeed.ts";
import { isLlamaFactory, takeLlamaFactory } from "./configs/llama-factory.ts";
import { ownRecipe, readOwn } from "./configs/own.ts";
import { isTorchtune, takeTorchtune } from "./configs/torchtune.ts";
import { isTrl, takeTrl } from "./configs/trl.ts";
import { Draft } from "./draft.ts";
import { composeHydra } from "./hydra.ts";
import { findModel } from "../plan/catalogue/catalogue.ts";
import { type Table, isTable, placeText } from "./located.ts";
import { folderOf, joinPath } from "./paths.ts";
import type { Beside, RecipeFile, RecipeReading } from "./reading.ts";
import { readScript } from "./script/script.ts";
import { MAX_TEXT, readYaml } from "./yaml.ts";

/** A framework's config file: how it is recognised and read. */
interface Format {
  readonly name: string;
  readonly matches: (table: Table) => boolean;
  readonly take: (draft: Draft, table: Table, beside: Beside) => void;
  /** It describes a whole run, not only how one is spread over cards. */
  readonly whole: boolean;
}

/** In this order: the most telling first. */
const FORMATS: readonly Format[] = [
  { name: "torchtune", matches: isTorchtune, take: takeTorchtune, whole: true },
  { name: "axolotl", matches: isAxolotl, take: takeAxolotl, whole: true },
  { name: "accelerate", matches: isAccelerate, take: takeAccelerate, whole: false },
  { name: "DeepSpeed", matches: isDeepSpeed, take: takeDeepSpeed, whole: false },
  { name: "LLaMA-Factory", matches: isLlamaFactory, take: takeLlamaFactory, whole: true },
  { name: "TRL", matches: isTrl, take: takeTrl, whole: true },
];

const LOOKED_FOR =
  "Looked for: TrainingArguments, SFTConfig or a torch.optim optimizer in Python; axolotl (base_model), LLaMA-Factory or TRL " +
  "(model_name_or_path), torchtune (_component_), accelerate (distributed_type), DeepSpeed (zero_optimization), a plimsoll " +
  "recipe (method), or a model and a batch size under their usual names.";

const nothing: Beside = () => null;

/** Whether a file is one to read a recipe from: a script, a notebook, or a config that is not a model's own. */
export function isRecipeFile({ name, text }: RecipeFile): boolean {
  if (/\.(?:py|ipynb|ya?ml)$/i.test(name)) return true;
  if (!/\.json$/i.test(name) || text.length > MAX_TEXT) return false;
  const { value } = readYaml({ name, text });
  return isTable(value) && (ownRecipe(value) !== null || isDeepSpeed(value) || !value.has("model_type"));
}

/** The recipe a file describes. `beside` finds the files it refers to. */
export function readRecipe(file: RecipeFile, beside: Beside = nothing): RecipeReading {
  const reading = /\.(?:py|ipynb)$/i.test(file.name) ? readScript(file, beside) : readConfig(file, beside);
  if (!reading) throw new UserError(`${file.name}: no training recipe found in it`, LOOKED_FOR);
  return withKnownModel(reading, folderOf(file.name), beside);
}

/** A copy of a model in another account or a local folder has the sizes of the one it is named after. */
function withKnownModel(reading: RecipeReading, folder: string, beside: Beside): RecipeReading {
  const { model, warnings } = reading;
  if (!model || model.config || findModel(model.name)) return reading;
  const local = [folder, ""].some(
    (from) =>
      beside(joinPath(from, `${model.name}/config.json`)) !== null ||
      beside(joinPath(from, model.name)) !== null,
  );
  const known = findModel(model.name.replace(/\/+$/, "").replace(/^.*\//, ""));
  if (local || !known) return reading;
  const said = `${placeText(model.place)}: ${model.name} is planned with the sizes of ${known.name}`;
  return { ...reading, model: { ...model, name: known.name }, warnings: [...warnings, said] };
}

function readConfig(file: RecipeFile, beside: Beside): RecipeReading | null {
  // References are OmegaConf's in torchtune's and LLaMA-Factory's files too.
  const { value } = composeHydra(file, beside);
  if (!isTable(value)) return null;
  const own = ownRecipe(value);
  if (own) return readOwn(own, value);
  const composed = /^defaults:/m.test(file.text);
  const format = composed ? undefined : FORMATS.find(({ matches }) => matches(value));
  const draft = new Draft();
  if (format) {
    format.take(draft, value, beside);
    return draft.finish(format.name, format.whole);
  }
  takeByKey(draft, value, beside);
  if (!TELLING.some((field) => draft.has(field))) return null;
  return draft.finish(composed ? "Hydra" : "YAML", true);
}

import type { Call } from "../../python/tree.ts";
import { type Located, Made, type Place } from "../located.ts";
import type { Beside, RecipeFile } from "../reading.ts";
import { adaptersOf, loadsOf } from "./model.ts";
import { autocastOf, optimizerOf } from "./plain-loop.ts";
import { Program, type Script } from "./program.ts";
import { type Site, Survey, settled } from "./survey.ts";
import { argumentsOf, trainerOf } from "./trainer.ts";

/** A call that holds settings, and all it is given: by keyword, by a table spread with **, by later statements. */
export interface Part {
  readonly made: Made;
  readonly place: Place;
  readonly script: Script;
  /** Null: only the command line fills it. */
  readonly call: Call | null;
}

/** The calls of a training script that hold its recipe, as reading it finds them. */
export interface Parts {
  readonly survey: Survey;
  readonly trainer: Part | null;
  /** TrainingArguments, SFTConfig. */
  readonly args: Part | null;
  /** from_pretrained of the model. */
  readonly load: Part | null;
  readonly lora: Part | null;
  readonly quantization: Part | null;
  /** model.gradient_checkpointing_enable. */
  readonly enabled: Part | null;
  /** prepare_model_for_kbit_training. */
  readonly prepared: Part | null;
  readonly optimizer: Part | null;
  /** torch.autocast of a loop written by hand. */
  readonly autocast: Part | null;
}

export function partsOf(file: RecipeFile, beside: Beside): Parts {
  const survey = new Survey(new Program(file, beside));
  const ofSite = (site: Site | null | undefined): Part | null =>
    site ? { made: survey.made(site), place: site.place, script: site.script, call: site.call } : null;
  const ofMade = (at: Located | undefined): Part | null => {
    if (!(at?.value instanceof Made)) return null;
    const script = survey.program.scripts().find(({ name }) => name === at.place.file);
    const call = script?.file
      .all("Call")
      .find(({ start, end }) => start === at.place.span?.start && end === at.place.span.end);
    return script ? { made: at.value, place: at.place, script, call: call ?? null } : null;
  };
  const trainer = trainerOf(survey);
  const args = argumentsOf(survey, trainer);
  const load = ofSite(loadsOf(survey)[0]);
  const quantization = (load ?? ofSite(trainer))?.made.args.get("quantization_config");
  return {
    survey,
    trainer: ofSite(trainer),
    args: args && ofMade({ value: args.made, place: args.place }),
    load,
    lora: ofSite(adaptersOf(survey)[0]),
    quantization: ofMade(settled(quantization)),
    enabled: ofSite(survey.named(/^gradient_checkpointing_enable$/)[0]),
    prepared: ofSite(survey.named(/^prepare_model_for_(?:kbit|int8)_training$/)[0]),
    optimizer: ofSite(optimizerOf(survey)),
    autocast: ofSite(autocastOf(survey)),
  };
}

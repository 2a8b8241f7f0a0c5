import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Facts } from "./facts.ts";

/** A language model is near: its logits are a row of the vocabulary for each token. */
export const TEXT =
  /vocab|lm_head|CausalLM|logits\.size\(-1\)|labels|input_ids|token|\blm\(|\bgpt|GPT|bert|logits\.shape\[-1\]|ignore_index=pad|logits\.(?:transpose\(1, ?2\)|permute\(0, ?2, ?1\))/;

/** What is computed for each pixel is as large as the pictures. */
export const isOfPixels = ({ file }: Facts): boolean => file.once(speaksOfPixels);

const speaksOfPixels = ({ text, path }: PythonFile): boolean =>
  /segmentation|\bu_?net|super.?resolution|denois|recon(?:struct|_loss|_x)|auto_?encod|\bvae|inpaint|heat_?map|saliency|deblur|derain|dehaz|colori[sz]ation|(?<![a-z])matting|depth.?estimation|\b(?:left|right|pred|gt|true|target)_depth\b|depth_(?:map|gt|pred)|diffusion|rectified_?flow|flow_?matching|deeplab|\bm_?iou\b|mean_?iou|pred_masks?\b|total_union|(?<![a-z])dice(?![a-z])|yolo|retina_?net|center_?net|\bfcos|anchor_?box|bboxes|optical_?flow/i.test(
    text + path,
  ) && !/classif(?:y|ier|ication)_?(?:loss|criterion|head)|num_actions/.test(text);

/** What is made for each moment of a sound is as long as the sound: spectrograms, voices, the instruments of a piece. */
export const isOfSounds = ({ file }: Facts): boolean => file.once(speaksOfSounds);

const speaksOfSounds = ({ text, path }: PythonFile): boolean =>
  /(?<![a-z])(?:mels?|stems?)(?![a-z])|mel_?spec|spectrogram|vocoder|waveform|source.?separation|(?:speech|voice|audio).?(?:synthesis|enhance)/i.test(
    text + path,
  ) &&
  !/classif|\bctc|CTC|\basr\b|recogni[sz]|\bwer\b|tokenizer|speaker.?(?:id|verif)|num_(?:labels|classes)/i.test(
    text,
  );

/** By its name what a network gives for each of them. */
export const PICTURE =
  /^(?:out|outs|y_?hat|recon\w*|x_?(?:rec|recon|hat|tilde|prime)|rec(?:_x|_imgs?|_images?)?|\w*(?:outputs?|preds?|logits?|masks?_pred|(?:depth|disp(?:arity)?|flow)_maps?|predictions?|predicted(?:_\w+)?|pred_\w+|restored|reconstructed|reconstructions?|_out|stems|frames|mels?|wavs?|audio|denoised|enhanced|separated|generated|estimates?)|y_(?:pred)?)$/i;

/** `num_items`, `self.item_count`: how many there are of what is counted in thousands, as classes and actions are not. */
const MANY =
  /(?:^|[._])(?:(?:num|n|nb|total)_?(?:item|product|user|movie|song|track|artist|entitie|doc|word)s?|(?:item|product|user|movie|song|track|artist|entity|doc|word)s?_?(?:num|count))$/;

/** `nn.Linear(width, num_items)` beside `nn.Embedding(num_items, width)` or what takes all items in: a recommender's scores, a row of all items for each user. */
export function scoresEveryItem(file: PythonFile): boolean {
  const heads = file.callsNamed("Linear").filter((call) => file.dotted(call.func) === "torch.nn.Linear");
  const outs = new Set(heads.map((call) => file.textOf(argument(call, "out_features", 1) ?? call)));
  // Who also makes single numbers may be scoring one item at a time.
  if (outs.size === 0 || outs.has("1")) return false;
  const wide = [...outs].filter((out) => MANY.test(out));
  if (wide.length === 0) return false;
  const ins = new Set(heads.map((call) => file.textOf(argument(call, "in_features", 0) ?? call)));
  for (const call of file.callsNamed("Embedding"))
    ins.add(file.textOf(argument(call, "num_embeddings", 0) ?? call).replace(/ ?\+ ?[12]$/, ""));
  return wide.some((out) => ins.has(out));
}

/** `labels[:, 1:]`, `input_ids[..., 1:]`: each token is what the one before it has to foretell. */
const NEXT_TOKEN = /\b\w*(?:labels|ids|targets)\[(?:\.\.\.|:), ?1:/;

/** By what the file speaks of; scores of classes are one row an example there too. */
export const isLanguageModel = ({ file }: Facts): boolean => file.once(speaksOfLanguage);

const speaksOfLanguage = ({ text }: PythonFile): boolean =>
  (/vocab|lm_head|CausalLM|(?:\b|_)tokens\b|\bgpt|GPT/.test(text) || NEXT_TOKEN.test(text)) &&
  !/classif|num_(?:labels|classes)|n_class|sentiment/i.test(text);

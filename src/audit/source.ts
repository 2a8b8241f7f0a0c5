import { PythonFile } from "../python/file.ts";
import { readNotebook } from "../python/notebook.ts";
import type { Notebook } from "../python/notebook.ts";
import type { NodeOf } from "../python/tree.ts";
import { type ConfigFile, TRAINING_CONFIG, readConfig } from "./config.ts";
import type { Layout } from "./layout.ts";

/** A file as the rules see it. */
export type Source =
  | { readonly kind: "python"; readonly file: PythonFile; readonly notebook: Notebook | null }
  | { readonly kind: "config"; readonly config: ConfigFile };

/** A file without one of these words has nothing for any rule: a quarter of a large tree, for one regular expression. */
const RELEVANT = /torch|transformers|lightning|accelerate|deepspeed|diffusers|peft|\btrl\b|apex|cudnn|cuda/;
/**
 * Nor has one that only speaks of them: it must import one, or treat something as a tensor, a network or an optimizer. The
 * lines of a notebook begin after a quote.
 */
const USES =
  /(?:^|[:;"]|\\n)[ \t]*(?:from|import)[ \t][^\n]*\b(?:torch|transformers|lightning|pytorch_lightning|accelerate|deepspeed|diffusers|peft|trl|apex|bitsandbytes|timm|unsloth|sentence_transformers|fastai|ignite|composer)|\.(?:backward|cuda|detach|item|zero_grad|requires_grad_?|no_grad|parameters|state_dict)\b|\b(?:DataLoader|Dataset|Trainer|optimizer|nn\.Module)\b|cudnn|CUDA_/m;
/** But what a training hands its tensors to, or is told by, may know nothing of torch. */
const HELPS = new RegExp(
  [
    // What imports a model by its name.
    /\bimport_module\(/,
    // What computes with tensors it is handed, by methods that no array has.
    /\.(?:unsqueeze|masked_fill_?|contiguous)\(|\bkeepdim=|[(,] ?dim=-?\d/,
    // What hands on a dataset of another file, or is one of no class of torch.
    /\bimport [^\n]*Data[Ss]et|\bclass \w+(?:\([\w.]*Data[Ss]et\)|(?<=Data[Ss]et)(?:\((?:object)?\))?):/,
    // The loop that tells another file to take a step, or goes over the batches of its loader.
    /\.(?:optimi[sz]e_(?:parameters|model|step)|train(?:ing)?_(?:step|batch|iter)|train_on_batch|update_(?:parameters|params|weights))\(|\bfor [^\n]*\bin [^\n]*loader\b|\.no_sync\b/,
    // Options.
    /add_argument\(|\bdataloader_num_workers\b|padding\s*=\s*["']max_length["']|\bclass \w*(?:Config|Args|Arguments|Options|Settings)(?:\((?:object)?\))?:\s/,
    // What times the work, or is a context around it.
    /\bself\.\w+ = (?:time\.)?(?:time|perf_counter|monotonic|default_timer)(?:_ns)?\(\)|\bcontextmanager\b|\bwraps\(/,
    // What reads or differentiates what it is handed, and what is around an optimizer.
    /\.item\(\)|\.add_scalar\(|math\.is(?:nan|finite|inf)\(|\.detach\(\)|\.backward\(|\.state_dict\(\)|\.zero_grad\(/,
    // Meters and memories.
    /\bclass \w*(?:Meter|Averag|Tracker|Buffer|Memory|Recorder|History|Running|Mean|Accumul|Smooth|Replay|Pool|Bank)|\bself\.(\w+) = self\.\1 \+ |\bself\.\w+ \+= (?:val|value|loss|v|x)\b|\bself\.\w+\.append\((?:val|value|loss|v|x)\)/,
    // What keeps its errors.
    /\.__traceback__\b|\bself\.\w+(?: = |\.append\(\(?(?:[\w. ]+, )*)(?:exc|err|error|exception)\b/,
    // What prepares pictures and sounds, and networks under a name of their own.
    /\b(?:imread|Image\.(?:open|fromarray)|librosa\.load|nib\.load|soundfile\.read|sf\.read)\(|\(nn\.Module\):/,
  ]
    .map(({ source }) => source)
    .join("|"),
);

const OTHER_LIBRARY = /^(?:paddle|tensorflow|jax|mindspore|jittor|mlx)(?:\.|$)/;

/** Written for another library, whose tensors have other methods, or other costs. */
function isOfAnother(file: PythonFile): boolean {
  const modules = (alias: NodeOf<"Alias">): string =>
    alias.parent?.kind === "ImportFrom" ? alias.parent.module : alias.name;
  return (
    file
      .all("Alias")
      .some((alias) => alias.parent?.parent?.kind === "Module" && OTHER_LIBRARY.test(modules(alias))) &&
    !file.all("Alias").some((alias) => /^torch(?:\.|$)/.test(modules(alias))) &&
    !keepsSettings(file)
  );
}

/** `tf.contrib.training.HParams(cudnn_benchmark=True)`, and of the other library nothing else but its log: settings of any training. */
function keepsSettings(file: PythonFile): boolean {
  return (
    file.callsNamed("HParams").length > 0 &&
    file.all("Call").every(({ func }) => {
      const name = file.dotted(func) ?? "";
      return !OTHER_LIBRARY.test(name) || /\.(?:HParams|logging\.\w+)$/.test(name);
    })
  );
}

/** Whether a text may have anything for a rule, or for those who judge other files. */
export function isRelevant(path: string, text: string): boolean {
  return isConfig(path) || (RELEVANT.test(text) && USES.test(text)) || HELPS.test(text);
}

export const isConfig = (path: string): boolean => /\.(?:ya?ml|json|toml)$/.test(path);

/** Null: nothing to audit. A string: why the file cannot be read. */
export function readSource(
  path: string,
  text: string,
  layout: Layout,
  outline = false,
): Source | string | null {
  if (isConfig(path)) {
    if (!TRAINING_CONFIG.test(text)) return null;
    const config = readConfig(path, text);
    return typeof config === "string" ? config : { kind: "config", config };
  }
  const notebook = path.endsWith(".ipynb") ? readNotebook(text) : null;
  if (typeof notebook === "string") return notebook;
  const file = new PythonFile(
    path,
    notebook?.text ?? text,
    (name, module, isPackage) => layout.nearest(name, module, isPackage),
    outline,
    notebook?.cells,
  );
  return isOfAnother(file) ? null : { kind: "python", file, notebook };
}

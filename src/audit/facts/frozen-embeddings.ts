import type { PythonFile } from "../../python/file.ts";

/** Whether what a file or a class says freezes the embeddings that go into the first block, by themselves or with all that is not adapters. */

/** `for p in model.get_input_embeddings().parameters(): p.requires_grad = False`, and `model.model.embed_tokens.requires_grad_(False)`. */
const FREEZES =
  /(?:get_input_embeddings\(\)|\.(?:embed_tokens|wte|word_embeddings|embeddings))(?:\.weight)?\.requires_grad(?:_\(\s*False|\s*=\s*False)|for\s+(\w+)\s+in\s+[\w.]*(?:get_input_embeddings\(\)|\.(?:embed_tokens|wte|word_embeddings|embeddings))\.parameters\(\):\s*\1\.requires_grad(?:_\(\s*False|\s*=\s*False)|["'](?:wte|emb\w*|\w*embeddings?|embed_tokens)["']\s+in\s+\w+[^\n]*:\s*\w+\.requires_grad(?:_\(\s*False|\s*=\s*False)/;

/** `if name.startswith("embeddings."): p.requires_grad = False`, of all that comes before the blocks, and not of a part of it. */
const FREEZES_FIRST =
  /\b(?:el)?(?:if|or)\s+\w+\.startswith\(\s*\(?["'](?:\w+\.)*(?:embeddings?|embed_tokens)\.?["'](?:(?!\band\b)[^\n])*:\s*\w+\.requires_grad(?:_\(\s*False|\s*=\s*False)/;

/** `freeze(model.get_input_embeddings())` */
const HELPED =
  /\b(?<!un)freeze\w*\(\s*[\w.]*(?:get_input_embeddings\(\)|\.(?:embed_tokens|wte|word_embeddings|embeddings))\s*\)/;

/** By a script, of a model that it was given. */
export function freezesEmbeddings(file: PythonFile): boolean {
  return file.says(FREEZES) || file.says(FREEZES_FIRST) || file.says(HELPED) || freezesRest(file.text);
}

/** `self.tok.requires_grad_(False)`, `for p in self.embed.parameters(): p.requires_grad = False`, and a table that was loaded. */
export function freezesTable(text: string): boolean {
  const made = [...text.matchAll(/self\.(\w+)\s*=\s*(?:torch\.)?(?:nn\.)?Embedding\(/g)].map(
    ([, name]) => name!,
  );
  // Those of relative positions are added inside the blocks, and say nothing of what goes into the first.
  const inputs = made.filter((name) => !/rel|pos/.test(name));
  const table = String.raw`self\.(?:${["(?!\\w*(?:rel|pos))\\w*emb\\w*", ...inputs].join("|")})`;
  const off = String.raw`\.requires_grad(?:_\(\s*False|\s*=\s*False)`;
  if (areFrozenInTurn(text, off)) return true;
  return new RegExp(
    String.raw`${table}(?:\.weight)?${off}|for\s+(\w+)\s+in\s+${table}\.parameters\(\):\s*\1${off}|with torch\.no_grad\(\):\s*\w+ = ${table}\(|${table}\s*=\s*(?:torch\.)?nn\.Embedding\.from_pretrained\((?![^)]*freeze\s*=\s*False)`,
    "i",
  ).test(text);
}

/** `for table in (self.words, self.places): table.weight.requires_grad = False`, of all the tables that the class makes. */
function areFrozenInTurn(text: string, off: string): boolean {
  const made = [...text.matchAll(/\b(\w+)\s*=\s*(?:torch\.)?(?:nn\.)?Embedding\(/g)].map(([, name]) => name!);
  const loop = String.raw`\bfor\s+(\w+)\s+in\s+[(\[]([^()[\]]*)[)\]]:\s*(?:\1(?:\.weight)?${off}|for\s+(\w+)\s+in\s+\1\.parameters\(\):\s*\3${off})`;
  const listed = new RegExp(loop).exec(text)?.[2] ?? "";
  return made.length > 0 && made.every((name) => new RegExp(String.raw`\b${name}\b`).test(listed));
}

/** `if "lora" in name: p.requires_grad = True`, `else: p.requires_grad = False`. */
const EITHER =
  /\bif ([^\n]*["'] in \w+[^\n]*):\s*\w+\.requires_grad(?:_\((?:True)?\)|\s*=\s*True)\s+else:\s*\w+\.requires_grad(?:_\(\s*False|\s*=\s*False)/;

/** `p.requires_grad = False`, then `if "lora" in name: p.requires_grad = True`, in one loop. */
const OFF_FIRST =
  /\bnamed_parameters\(\):\s*\w+\.requires_grad(?:_\(\s*False\s*\)|\s*=\s*False)\s+if ([^\n]*["'] in \w+[^\n]*):\s*\w+\.requires_grad(?:_\((?:True)?\)|\s*=\s*True)/;

/** `p.requires_grad = "lora" in name`: what lies inside the checkpoints trains, and the embeddings do not. */
export function freezesRest(text: string): boolean {
  const kept =
    /\bnamed_parameters\(\):\s*\w+\.requires_grad(?:_\(|\s*=\s*)([^\n]*["'] in \w[^\n]*)/.exec(text)?.[1] ??
    /\bif ([^\n]*["'] not in \w+[^\n]*):\s*\w+\.requires_grad(?:_\(\s*False|\s*=\s*False)/.exec(text)?.[1] ??
    EITHER.exec(text)?.[1] ??
    OFF_FIRST.exec(text)?.[1] ??
    "";
  // `model.requires_grad_(False)`, then the last blocks again.
  if (
    /\b\w*model\.requires_grad_\(\s*False\s*\)/.test(text) &&
    /for (\w+) in [\w.]+\.(?:h|layers?|blocks)\[-[\w ]*:\]:\s*\1\.requires_grad_\(\s*(?:True)?\s*\)/.test(
      text,
    )
  )
    return true;
  // The same by loops over their parameters.
  const off = /for (\w+) in ([\w.]+)\.parameters\(\):\s*\1\.requires_grad(?:_\(\s*False|\s*=\s*False)/.exec(
    text,
  );
  const on =
    /for (\w+) in ([\w.]+)\.(?:h|layers?|blocks)\[-[\w ]*:\]\.parameters\(\):\s*\1\.requires_grad(?:_\(\s*(?:True)?|\s*=\s*True)/.exec(
      text,
    );
  if (off && on && (on[2] === off[2] || on[2]!.startsWith(`${off[2]}.`))) return true;
  return (
    /lora|adapter|layer|block|attn|attention|mlp|["']h\.\d/i.test(kept) && !/emb|wte|tok|shared/i.test(kept)
  );
}

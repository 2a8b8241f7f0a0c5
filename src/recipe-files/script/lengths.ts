import type { Draft } from "../draft.ts";
import { type Located, placeText, show } from "../located.ts";
import { COUNT } from "../words.ts";
import { find, flatten } from "../configs/by-key.ts";
import { constants } from "./constants.ts";
import { type Survey, settled } from "./survey.ts";

/** Names a script gives the length of its sequences. */
const CONSTANTS = [
  "max_seq_length",
  "max_seq_len",
  "max_length",
  "seq_length",
  "seq_len",
  "sequence_length",
  "block_size",
  "context_length",
  "cutoff_len",
];

/** The sequence, where no argument of the trainer says it: the tokenizer's limit, or a constant named so. */
export function takeLengths(draft: Draft, survey: Survey): void {
  if (draft.has("seq")) return;
  const all = survey.sites.flatMap(({ call, script, last }): { key: string; at: Located }[] => {
    const names = new Set(call.args.map((arg) => arg.name));
    const tokenizes =
      names.has("truncation") ||
      names.has("padding") ||
      /^(?:encode|batch_encode|encode_plus|batch_encode_plus)$/.test(last);
    return call.args.flatMap((arg) =>
      (arg.name === "max_length" && tokenizes) || arg.name === "model_max_length"
        ? [{ key: arg.name, at: survey.evaluator.of(arg.value, script) }]
        : [],
    );
  });
  // max_length=None leaves it to the model.
  const limits = all.filter(({ at }) => at.value !== null);
  const read = limits.filter(({ at }) => COUNT.read(settled(at)?.value ?? null) !== undefined);
  const longest = read.toSorted(
    (a, b) => COUNT.read(settled(b.at)!.value)! - COUNT.read(settled(a.at)!.value)!,
  )[0];
  if (longest) {
    const other = read.find(({ at }) => settled(at)!.value !== settled(longest.at)!.value);
    if (other)
      draft.warn(
        `sequences are also cut at ${show(settled(other.at)!.value)}: the longest, ${show(settled(longest.at)!.value)} (${placeText(longest.at.place)}), is planned`,
        other.at.place,
      );
    return draft.take("seq", longest.key, longest.at, COUNT, 2048);
  }
  const paths = flatten(constants(survey), "");
  for (const name of CONSTANTS) {
    const found = find(paths, name);
    if (found && COUNT.read(settled(found.at)?.value ?? null) !== undefined)
      return draft.take("seq", found.path, found.at, COUNT, 2048);
  }
  const [unread] = limits;
  if (unread) draft.take("seq", unread.key, unread.at, COUNT, 2048);
  draft.assume("seq", 2048, "nothing in the script limits the sequence: its data decide");
}

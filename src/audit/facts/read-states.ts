import { isFalse, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Expr } from "../../python/tree.ts";
import { handedIn } from "./handed-in.ts";

/** Who reads the hidden states or attentions that a network's configuration asks it for. */

const STATES = ["hidden_states", "attentions", "output[", "outputs["];

/** `outputs.hidden_states[-2]`, `outputs["attentions"]`, `outputs[2]`, `teacher_outputs[2]` */
const READS =
  /[."'](?:(?:en|de)coder_|cross_)?(?:hidden_states|attentions)\b(?:(?<=\.\w+)|["'])|outputs?\[(?:-|[2-9]\])/;

/** By a key or by position. */
const BY_KEY = /["'](?:(?:en|de)coder_|cross_)?(?:hidden_states|attentions)["']|outputs?\[(?:-|[2-9]\])/;

const NAMED = /^(?:(?:en|de)coder_|cross_)?(hidden_states|attentions)$/;

/** Read in this file, by name or by position, unless whoever reads them asked for them in that very call. */
export function readsStates(file: PythonFile): boolean {
  if (!STATES.some((word) => file.mentions(word)) || !file.says(READS)) return false;
  return (
    file.says(BY_KEY) ||
    file.all("Attribute").some(({ attr, value }) => {
      const [, what] = NAMED.exec(attr) ?? [];
      return what !== undefined && !isAskedThere(value, `output_${what}`, file);
    })
  );
}

/** `outputs` of `outputs = self.tower(images, output_hidden_states=True)`, also where a function of this file is handed that. */
function isAskedThere(outputs: Expr, key: string, file: PythonFile, depth = 0): boolean {
  if (outputs.kind === "Call") {
    const asked = keyword(outputs, key);
    return asked !== null && !isFalse(asked.value);
  }
  if (outputs.kind !== "Name" || depth > 2) return false;
  const made = file.scopes.reaching(outputs);
  return (
    made.length > 0 &&
    made.every((one) => {
      const given = one.how === "param" ? handedIn(one, file, true) : one.how === "assign" ? [one.value] : [];
      return (
        given.length > 0 &&
        given.every((value) => value !== null && isAskedThere(value, key, file, depth + 1))
      );
    })
  );
}

import { ALL_META } from "../../audit/rules.ts";
import { UserError } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { rulePage } from "../rule-pages.ts";
import { nearest } from "../suggest.ts";

export const command: Command = {
  name: "explain",
  summary: "say what an audit rule finds, why it matters and how to mend it",
  usage: "plimsoll explain CODE",
  examples: [{ line: "plimsoll explain PLM018", says: "the rule's page" }],
  arguments: { name: "CODE", min: 1, max: 1 },
  options: { json: { type: "boolean", summary: "the rule and its page as JSON" } },
  async run({ positionals, options }, io) {
    const wanted = positionals[0]!.toUpperCase();
    const meta = ALL_META.find(({ code, name }) => code === wanted || name.toUpperCase() === wanted);
    if (!meta) {
      const guess = nearest(
        wanted,
        ALL_META.map(({ code }) => code),
      );
      throw new UserError(
        `no rule ${wanted}${guess ? ` (did you mean ${guess}?)` : ""}`,
        "plimsoll rules lists them",
      );
    }
    const page = rulePage(meta.code) ?? `# ${meta.code} ${meta.name}\n\n${meta.summary}.\n`;
    io.out(options["json"] === true ? `${JSON.stringify({ ...meta, page }, null, 2)}\n` : page);
    return 0;
  },
};

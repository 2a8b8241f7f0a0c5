import { ALL_META } from "../../audit/rules.ts";
import type { Command } from "../command.ts";

export const command: Command = {
  name: "rules",
  summary: "list the audit's rules",
  usage: "plimsoll rules [--json]",
  examples: [{ line: "plimsoll rules", says: "code, severity, fix and what each finds" }],
  options: { json: { type: "boolean", summary: "code, name, severity, fix, docs and patterns of each" } },
  async run({ options }, io) {
    if (options["json"] === true)
      io.out(
        `${JSON.stringify(
          ALL_META.map(({ code, name, summary, severity, fix, patterns }) => ({
            code,
            name,
            summary,
            severity,
            fix,
            docs: `docs/rules/${code}.md`,
            patterns,
          })),
          null,
          2,
        )}\n`,
      );
    else
      for (const { code, severity, fix, summary } of ALL_META)
        io.out(`${code}  ${severity.padEnd(7)}  ${fix.padEnd(6)}  ${summary}\n`);
    return 0;
  },
};

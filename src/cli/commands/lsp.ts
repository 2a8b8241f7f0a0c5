import { once } from "node:events";
import type { Command } from "../command.ts";

export const command: Command = {
  name: "lsp",
  summary: "serve the audit to an editor, over standard input and output",
  usage: "plimsoll lsp",
  examples: [
    { line: "plimsoll lsp", says: "started by an editor, which then speaks the Language Server Protocol" },
  ],
  options: {
    // Editors pass it whether a server has other ways or not.
    stdio: { type: "boolean", summary: "speak over standard input and output, as it always does" },
  },
  async run() {
    const { createConnection } = await import("vscode-languageserver/node");
    const { serve } = await import("../lsp/server.ts");
    serve(createConnection(process.stdin, process.stdout));
    await once(process.stdin, "close");
    return 0;
  },
};

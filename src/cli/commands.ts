import type { Command } from "./command.ts";

/**
 * Every command, in the order of `plimsoll --help`. A command's code is loaded only when it is asked for:
 * keep heavy imports out of the command files' top level too, where that is easy.
 */
export const COMMANDS: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
  plan: () => import("./commands/plan.ts"),
  fit: () => import("./commands/fit.ts"),
  inspect: () => import("./commands/inspect.ts"),
  replay: () => import("./commands/replay.ts"),
  audit: () => import("./commands/audit.ts"),
  explain: () => import("./commands/explain.ts"),
  rules: () => import("./commands/rules.ts"),
  lsp: () => import("./commands/lsp.ts"),
  preflight: () => import("./commands/preflight.ts"),
  run: () => import("./commands/run.ts"),
  runs: () => import("./commands/runs.ts"),
  verify: () => import("./commands/verify.ts"),
  completion: () => import("./commands/completion.ts"),
};

export async function loadCommands(): Promise<readonly Command[]> {
  const modules = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  return modules.map((module) => module.command);
}

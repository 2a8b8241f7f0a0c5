import type { Command } from "../command.ts";
import { completionScript } from "../completion.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

export const command: Command = {
  name: "completion",
  summary: "print a shell's completion script",
  usage: "plimsoll completion bash|zsh|fish",
  examples: [
    {
      line: "source <(plimsoll completion bash)",
      says: "complete in this bash, or put the line in ~/.bashrc",
    },
    { line: "source <(plimsoll completion zsh)", says: "the same for zsh, after compinit in ~/.zshrc" },
    {
      line: "plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish",
      says: "install for fish",
    },
  ],
  options: {},
  arguments: { name: "a shell", min: 1, max: 1, choices: SHELLS },
  async run({ positionals }, io) {
    const { loadCommands } = await import("../commands.ts");
    const shell = SHELLS.find((shell) => shell === positionals[0])!;
    io.out(completionScript(shell, await loadCommands()));
    return 0;
  },
};

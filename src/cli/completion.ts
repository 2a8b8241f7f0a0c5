import type { Command, Option } from "./command.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";

export type Shell = "bash" | "zsh" | "fish";

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const specs = commands.map(specOf);
  if (shell === "bash") return bash(specs);
  if (shell === "zsh") return zsh(specs);
  return fish(specs);
}

interface Spec {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly (readonly [string, Option])[];
  readonly words: readonly string[];
  readonly files: boolean;
}

function specOf(command: Command): Spec {
  const choices = command.arguments?.choices;
  return {
    name: command.name,
    summary: command.summary,
    options: Object.entries({ ...command.options, ...GLOBAL_OPTIONS }),
    words: choices ?? [],
    files: choices === undefined,
  };
}

/** Quoted for a POSIX shell; fish reads '\'' the same way. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function valueWords(option: Option): string | undefined {
  return option.choices?.join(" ");
}

function bash(specs: readonly Spec[]): string {
  const cases = specs.map((spec) => {
    const flags = spec.options.map(([name]) => `--${name}`).join(" ");
    const taking = spec.options.filter(([, option]) => takesWord(option));
    const values = taking.map(([name, option]) => {
      const words = valueWords(option);
      const reply = words === undefined ? `compgen -f -- "$cur"` : `compgen -W ${quote(words)} -- "$cur"`;
      return `        --${name}) mapfile -t COMPREPLY < <(${reply}); return ;;`;
    });
    return [
      `    ${spec.name})`,
      ...(values.length > 0 ? [`      case "$prev" in`, ...values, `      esac`] : []),
      `      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W ${quote(flags)} -- "$cur")`,
      spec.files
        ? `      else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); fi ;;`
        : `      else mapfile -t COMPREPLY < <(compgen -W ${quote(spec.words.join(" "))} -- "$cur"); fi ;;`,
    ].join("\n");
  });
  const names = specs.map(({ name }) => name).join(" ");
  return `# plimsoll completion for bash
_plimsoll() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    mapfile -t COMPREPLY < <(compgen -W ${quote(`${names} --help --version`)} -- "$cur")
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
}
complete -o filenames -F _plimsoll plimsoll
`;
}

function zsh(specs: readonly Spec[]): string {
  const cases = specs.map((spec) => {
    const lines = spec.options.map(([name, option]) => {
      const repeat = option.multiple ? "*" : "";
      const summary = option.summary.replace(/[[\]:]/g, (found) => `\\${found}`);
      const action = valueWords(option);
      const value = takesWord(option)
        ? `:${option.value ?? "value"}:${action ? `(${action})` : "_files"}`
        : "";
      return `        ${quote(`${repeat}--${name}[${summary}]${value}`)}`;
    });
    const rest = quote(spec.files ? "*:file:_files" : `*:argument:(${spec.words.join(" ")})`);
    return `      ${spec.name}) _arguments \\\n${[...lines, `        ${rest}`].join(" \\\n")} ;;`;
  });
  return `#compdef plimsoll
_plimsoll() {
  local -a commands=(
${specs.map(({ name, summary }) => `    ${quote(`${name}:${summary.replaceAll(":", "\\:")}`)}`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local chosen=\${words[2]}
    shift words
    (( CURRENT-- ))
    case $chosen in
${cases.join("\n")}
    esac
  fi
}
if [ "$funcstack[1]" = "_plimsoll" ]; then _plimsoll "$@"; else compdef _plimsoll plimsoll; fi
`;
}

function fish(specs: readonly Spec[]): string {
  const lines = specs.flatMap((spec) => {
    const when = `-n ${quote(`__fish_seen_subcommand_from ${spec.name}`)}`;
    const options = spec.options.map(([name, option]) => {
      const short = option.short ? ` -s ${option.short}` : "";
      const words = valueWords(option);
      const value = !takesWord(option) ? "" : words === undefined ? " -rF" : ` -xa ${quote(words)}`;
      return `complete -c plimsoll ${when} -l ${name}${short}${value} -d ${quote(option.summary)}`;
    });
    const argument = spec.files ? "-F" : `-fa ${quote(spec.words.join(" "))}`;
    return [
      `complete -c plimsoll -n __fish_use_subcommand -fa ${spec.name} -d ${quote(spec.summary)}`,
      ...options,
      `complete -c plimsoll ${when} ${argument}`,
    ];
  });
  return `# plimsoll completion for fish\ncomplete -c plimsoll -f\n${lines.join("\n")}\n`;
}

/** Whether the next word is the option's value. */
function takesWord(option: Option): boolean {
  return option.type === "string" && option.alone === undefined;
}

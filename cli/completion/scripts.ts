import type { OptionTable, Positionals } from "#terminal/command-line.ts";
import type { Shell } from "./shells.ts";

/** What a shell completes of a command. */
export interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly positionals?: Positionals;
  readonly options: OptionTable;
}

/** A shell's completion of the program: commands, their options, and files where an option or a command takes one. */
export function completionScript(shell: Shell, program: string, commands: readonly Completed[]): string {
  return { bash, zsh, fish }[shell](program, commands);
}

const COMMON: OptionTable = { help: { type: "flag", description: "list the arguments" } };
const optionsOf = ({ options }: Completed): OptionTable => ({ ...options, ...COMMON });
const identifier = (program: string): string => `_${program.replaceAll("-", "_")}`;

/** A text in single quotes, as sh and its relatives read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function bash(program: string, commands: readonly Completed[]): string {
  const fn = identifier(program);
  const cases = commands.map((command) => {
    const options = Object.keys(optionsOf(command)).map((name) => `--${name}`);
    const words = command.positionals?.words ?? [];
    const given = `[[ "$current" == -* ]] && words=${quoted(options.join(" "))} || words=${quoted(words.join(" "))}`;
    return `    ${command.name}) ${given} ;;`;
  });
  return `# bash completion of ${program}: source <(${program} completion bash)
${fn}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${quoted([...commands.map(({ name }) => name), "--help", "--version"].join(" "))}
  else
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    esac
  fi
  [ -n "$words" ] || return 0
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
}
complete -o default -F ${fn} ${program}
`;
}

function zsh(program: string, commands: readonly Completed[]): string {
  const fn = identifier(program);
  // A colon ends a name, and a bracket a description.
  const plain = (text: string): string => text.replaceAll(/[[\]]/g, "").replaceAll(":", "\\:");
  const names = commands.map(({ name, summary }) => `    ${quoted(`${name}:${plain(summary)}`)}`);
  const cases = commands.map((command) => {
    const options = Object.entries(optionsOf(command)).map(([name, option]) => {
      const repeated = option.type === "list" ? "*" : "";
      const value = option.type === "flag" ? "" : `:${plain(option.value)}:_files`;
      return quoted(`${repeated}--${name}[${plain(option.description)}]${value}`);
    });
    const { positionals } = command;
    const values = positionals?.words ? `(${positionals.words.join(" ")})` : "_files";
    const words = positionals === undefined ? [] : [quoted(`*:${plain(positionals.name)}:${values}`)];
    return `    ${command.name}) _arguments ${[...options, ...words].join(" ")} ;;`;
  });
  return `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh)
${fn}() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == ${fn} ]]; then ${fn} "$@"; else compdef ${fn} ${program}; fi
`;
}

function fish(program: string, commands: readonly Completed[]): string {
  // fish reads a backslash and a quote in single quotes as other shells do not.
  const inFish = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const names = commands.map(({ name, summary }) => `complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d ${inFish(summary)}`);
  const options = commands.flatMap((command) =>
    Object.entries(optionsOf(command)).map(([name, option]) => {
      const value = option.type === "flag" ? "" : " -r";
      return `complete -c ${program} -n '__fish_seen_subcommand_from ${command.name}' -l ${name}${value} -d ${inFish(option.description)}`;
    }),
  );
  const words = commands.flatMap(({ name, positionals }) =>
    positionals?.words
      ? [`complete -c ${program} -n '__fish_seen_subcommand_from ${name}' -f -a ${inFish(positionals.words.join(" "))}`]
      : [],
  );
  return [`# fish completion of ${program}: ${program} completion fish | source`, ...names, ...options, ...words, ""].join("\n");
}

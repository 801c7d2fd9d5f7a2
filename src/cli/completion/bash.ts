/** Completion for bash 4 or later. Pure. */
import type { CommandReference, ValueReference } from '../reference.js';

/** Returns a script that needs neither Node.js nor this package to complete. */
export function bashCompletion(program: CommandReference): string {
  return `# Completion of nixl-otel for bash, made by: nixl-otel completion bash
_nixl_otel() {
  local current=\${COMP_WORDS[COMP_CWORD]} flag=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' files='' i
  # Bash divides --flag=value into three words.
  if [[ $current == = ]]; then current=''; elif [[ $flag == = ]]; then flag=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
${pathsOf(program)}) path+=" \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $flag" in
${valueCasesOf(program)}
    *)
      case "$path" in
${commandCasesOf(program)}
      esac
      ;;
  esac
  COMPREPLY=()
  case $files in
    directories) mapfile -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames ;;
  esac
  [[ $words ]] && mapfile -t -O \${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$words" -- "$current")
  return 0
}
complete -F _nixl_otel nixl-otel`;
}

interface Placed {
  /** ` config check`, with a blank before each name. */
  readonly path: string;
  readonly command: CommandReference;
}

function placed(command: CommandReference, path = ''): Placed[] {
  return [{ path, command }, ...command.commands.flatMap((one) => placed(one, `${path} ${one.name}`))];
}

/** Pattern of the paths of all commands below the program. */
function pathsOf(program: CommandReference): string {
  const paths = placed(program).flatMap(({ path }) => (path === '' ? [] : [quoted(path)]));
  return `      ${paths.join(' | ')}`;
}

function valueCasesOf(program: CommandReference): string {
  const cases = placed(program).flatMap(({ path, command }) =>
    command.flags.flatMap(({ names, value }) =>
      value === undefined ? [] : names.map((name) => `    ${quoted(`${path} ${name}`)}) ${settingsOf(value)} ;;`),
    ),
  );
  return cases.join('\n');
}

function commandCasesOf(program: CommandReference): string {
  const cases = placed(program).map(({ path, command }) => {
    const values = command.arguments.flatMap(({ words }) => words);
    const words = [
      ...command.commands.map(({ name }) => name),
      ...values,
      ...command.flags.flatMap(({ names }) => names),
    ];
    const files = command.arguments.find((one) => one.files !== 'none')?.files ?? 'none';
    return `        ${path === '' ? "''" : quoted(path)}) ${settingsOf({ name: '', words, files })} ;;`;
  });
  return cases.join('\n');
}

/** Assignments of the variables of the script. */
function settingsOf({ words, files }: ValueReference): string {
  const settings = [
    ...(words.length === 0 ? [] : [`words=${quoted(words.join(' '))}`]),
    ...(files === 'none' ? [] : [`files=${files}`]),
  ];
  return settings.length === 0 ? ':' : settings.join(' ');
}

/** Names and words have no quotes. */
function quoted(text: string): string {
  return `'${text}'`;
}

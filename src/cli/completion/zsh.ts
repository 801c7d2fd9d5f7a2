/** Completion for zsh. Pure. */
import type { CommandReference, FlagReference, ValueReference } from '../reference.js';

/** Returns a script that needs neither Node.js nor this package to complete. */
export function zshCompletion(program: CommandReference): string {
  return `#compdef nixl-otel
# Completion of nixl-otel for zsh, made by: nixl-otel completion zsh
${functionsOf('_nixl_otel', program).join('\n')}
if [[ \${funcstack[1]} == _nixl-otel ]]; then _nixl_otel "$@"; else compdef _nixl_otel nixl-otel; fi`;
}

/** Returns a function for the command, and one for each command below it. */
function functionsOf(name: string, command: CommandReference): string[] {
  const { flags, commands, arguments: values } = command;
  const nameBelow = (below: CommandReference): string => `${name}_${below.name}`;
  const last =
    commands.length > 0
      ? [quoted('1:command:->command'), quoted('*::argument:->argument')]
      : values.map((value) => quoted(`*:${value.name}:${actionOf(value)}`));
  const cases = commands.map((one) => `        ${one.name}) ${nameBelow(one)} ;;`);
  const dispatch = `
  case $state in
    command)
      local -a names=(${commands.map(({ name: one, description }) => quoted(`${one}:${description}`)).join(' ')})
      _describe -t commands command names
      ;;
    argument)
      case $line[1] in
${cases.join('\n')}
      esac
      ;;
  esac`;
  const specs = [...flags.map(flagSpec), ...last].map((spec) => `    ${spec}`).join(' \\\n');
  const text = `${name}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \\
${specs}${commands.length > 0 ? dispatch : ''}
}`;
  return [text, ...commands.flatMap((one) => functionsOf(nameBelow(one), one))];
}

/** A flag may be repeated: serve takes some of them several times, and refuses none. */
function flagSpec({ names, description, value }: FlagReference): string {
  const explained = `[${description.replaceAll(/[[\]\\]/g, String.raw`\$&`)}]`;
  const taken = value === undefined ? '' : `:${value.name}:${actionOf(value)}`;
  return names.map((name) => quoted(`*${name}${value === undefined ? '' : '='}${explained}${taken}`)).join(' ');
}

function actionOf({ words, files }: ValueReference): string {
  if (words.length > 0) return `(${words.join(' ')})`;
  return { directories: '_files -/', files: '_files', none: ' ' }[files];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

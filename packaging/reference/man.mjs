/** The man page, made from the reference of the commands. */

/** Its flags are those of a C++ program, which may not be built. */
const OTHER_PROGRAM = 'simulate';
const OF_ALL_COMMANDS = ['--help', '--version'];

export function manPageOf(program, version) {
  const commands = program.commands.flatMap((one) => commandSections(one, program.name));
  return [
    `.\\" Made by npm run schema from the rows of commands and options.`,
    `.TH NIXL\\-OTEL 1 "" "nixl\\-otel ${version}" "User Commands"`,
    '.nh', // no hyphens in names of variables
    '.ad l',
    '.SH NAME',
    `${plain(program.name)} \\- OpenTelemetry metrics of NVIDIA NIXL agents`,
    '.SH SYNOPSIS',
    `.B ${plain(program.name)}`,
    `.I command`,
    plain('[options]'),
    '.SH DESCRIPTION',
    ...text(program.description),
    '.SH OPTIONS',
    ...flagItems(program.flags),
    '.SH COMMANDS',
    ...program.commands.flatMap(({ name, description }) => item(bold(name), description)),
    ...commands,
    '.SH "EXIT STATUS"',
    ...text(
      program.notes
        .replace(/^Exit codes:/, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ),
    '.SH FILES',
    ...item(
      bold('.nixl-otel'),
      'folder beside the rings, with a state file for each agent, from which the next serve continues the sums',
    ),
    '.SH "SEE ALSO"',
    ...text('The folder docs of the package opentelemetry-instrumentation-nixl: install.md, settings.md and others.'),
    '',
  ].join('\n');
}

function commandSections({ name, description, usage, flags, commands, notes }, above) {
  const title = `${above} ${name}`;
  const section = [
    `.SH "${plain(title.toUpperCase())}"`,
    `.B ${plain(title)}`,
    plain(usage),
    '.PP',
    ...text(sentence(description)),
  ];
  if (name === OTHER_PROGRAM) return [...section, '.PP', ...text(`${title} --help lists the flags.`)];
  return [
    ...section,
    ...[...groupsOf(flags.filter(({ names }) => !OF_ALL_COMMANDS.includes(names.at(-1))))].flatMap(
      ([group, members]) => [`.SS ${plain(group.replace(/:$/, ''))}`, ...flagItems(members)],
    ),
    ...(notes === '' ? [] : ['.SS Notes', ...paragraphs(notes)]),
    ...commands.flatMap((one) => commandSections(one, title)),
  ];
}

function flagItems(flags) {
  return flags.flatMap(({ term, description }) => item(bold(term), description));
}

function groupsOf(flags) {
  const groups = new Map();
  for (const flag of flags) groups.set(flag.group, [...(groups.get(flag.group) ?? []), flag]);
  return groups;
}

/** Paragraphs of running text are filled; examples keep their lines. */
function paragraphs(notes) {
  return notes.split('\n\n').flatMap((part) => {
    const lines = part.split('\n');
    const firstIndented = lines.findIndex((line) => line.startsWith('  '));
    if (firstIndented === -1) return ['.PP', ...text(lines.join(' '))];
    const before = lines.slice(0, firstIndented);
    const examples = lines.slice(firstIndented).map((line) => guarded(plain(line)));
    return ['.PP', ...text(before.join(' ')), '.nf', ...examples, '.fi'];
  });
}

function item(term, about) {
  return ['.TP', term, ...text(about)];
}

function text(words) {
  return words === '' ? [] : [guarded(plain(words))];
}

function bold(term) {
  return `.B "${plain(term)}"`;
}

function sentence(phrase) {
  return `${phrase[0].toUpperCase()}${phrase.slice(1)}.`;
}

/** Escapes what roff would interpret: backslashes, and dashes and quotes that it would make typographic. */
function plain(words) {
  return words
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll('^', String.raw`\(ha`);
}

/** A line that begins with a period would be a request. */
function guarded(line) {
  return line.startsWith('.') ? `\\&${line}` : line;
}

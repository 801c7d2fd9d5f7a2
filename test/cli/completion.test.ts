/** Completion in real shells, help by name, and what both are made of. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { programReference } from '../../src/cli/program.js';
import { flagName, GROUPS, type OptionRow } from '../../src/settings/row.js';
import { ALL_SERVE_ROWS } from '../../src/settings/serve-rows.js';
import { ROOT, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';

/** A folder with a ring and a folder. */
function workplace(): string {
  const directory = temporaryDirectory();
  mkdirSync(path.join(directory, 'rings of a'));
  writeFileSync(path.join(directory, 'ring-0'), '');
  return directory;
}

const scripts = {
  bash: (await runHere(['completion', 'bash'])).stdout,
  zsh: (await runHere(['completion', 'zsh'])).stdout,
};

/** Completes the last word of a line in bash, which divides words at = as its readline does. */
function inBash(line: string): string[] {
  const words = line.split(' ').flatMap((word) => word.split(/(?<==)|(?==)/));
  const program = `${scripts.bash}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    compopt() { :; } # outside of a completion it fails
    _nixl_otel
    ((\${#COMPREPLY[@]} == 0)) || printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-euc', program], { cwd: workplace(), encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean).sort();
}

/** Start-up file of a zsh that writes what it offers into a file, and ends after the first completion. */
const zshrc = (directory: string): string => `
  PROMPT=''
  fpath=(${directory} $fpath)
  autoload -Uz compinit && compinit -u -d ${directory}/dump
  bindkey '^I' complete-word
  compadd() {
    if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
    local -a offers
    builtin compadd -A offers "$@"
    (( \${#offers} )) && print -rl -- $offers >> ${directory}/offers
    builtin compadd "$@"
  }
  comppostfuncs=(exit)`;

/** Types a line and a tab in an interactive zsh. */
function inZsh(line: string): string[] {
  const directory = temporaryDirectory();
  writeFileSync(path.join(directory, '_nixl-otel'), scripts.zsh);
  writeFileSync(path.join(directory, '.zshrc'), zshrc(directory));
  const program = `
    zmodload zsh/zpty
    zpty shell zsh -i
    zpty -w -n shell '${line}'$'\\t'
    while zpty -r shell; do :; done`;
  spawnSync('zsh', ['-fc', program], { cwd: workplace(), env: { ...process.env, ZDOTDIR: directory } });
  return [...new Set(readFileSync(path.join(directory, 'offers'), 'utf8').trim().split('\n'))].sort();
}

const HAS_ZSH = spawnSync('zsh', ['--version']).status === 0;

describe.each([
  ['bash', inBash, true],
  ['zsh', inZsh, HAS_ZSH],
] as const)('%s completes', (_, complete, isThere) => {
  it.runIf(isThere).each([
    ['nixl-otel se', ['serve']],
    ['nixl-otel config ', ['check', 'print', 'schema']],
    ['nixl-otel serve --nami', ['--naming']],
    ['nixl-otel serve --naming ', ['nixl', 'otel']],
    ['nixl-otel serve --port 0 --naming=o', ['otel']],
    ['nixl-otel serve --exporter prom', ['prometheus']],
    ['nixl-otel read --format j', ['json']],
    ['nixl-otel simulate --wire-v', ['--wire-version']],
    ['nixl-otel completion ', ['bash', 'zsh']],
    ['nixl-otel help doc', ['doctor']],
  ])('%s', (line, expected) => {
    const offers = complete(line).filter((one) => (line.endsWith(' ') ? !one.startsWith('-') : true));
    expect(offers).toEqual(expected);
  });

  it.runIf(isThere)('directories and files', () => {
    const offers = (line: string): string[] => complete(line).map((one) => one.replaceAll(/\\(?=.)|\/$/g, ''));
    expect(offers('nixl-otel list --dir r')).toEqual(['rings of a']);
    expect(offers('nixl-otel read r')).toEqual(['ring-0', 'rings of a']);
  });
});

describe('help', () => {
  it.each([
    [['help'], ['--help']],
    [
      ['help', 'serve'],
      ['serve', '--help'],
    ],
    [
      ['help', 'config', 'check'],
      ['config', 'check', '--help'],
    ],
  ])('%j is %j', async (asked, same) => {
    const help = await runHere(asked);
    expect(help).toEqual(await runHere(same));
    expect(help).toMatchObject({ code: 0, stderr: '' });
  });

  it('refuses a command that does not exist', async () => {
    const { code, stderr } = await runHere(['help', 'sevre']);
    expect(stderr).toContain("unknown command 'sevre'");
    expect(code).toBe(2);
  });

  it('has each flag of serve under a heading, in the order of the headings', async () => {
    const { stdout } = await runHere(['help', 'serve']);
    const headings = [...stdout.matchAll(/^([A-Z].*):$/gm)].map(([, heading]) => heading);
    expect(headings.slice(0, GROUPS.length)).toEqual(GROUPS);
    const flagged = Object.values<OptionRow>(ALL_SERVE_ROWS).filter(({ flag }) => flag !== undefined);
    for (const row of flagged) expect(stdout.split('Options:')[0], flagName(row)).toContain(`  ${flagName(row)} `);
  });

  it('names a page of the documentation that exists', async () => {
    const { commands } = await programReference();
    for (const { name } of commands.filter((one) => one.name !== 'simulate')) {
      const { stdout } = await runHere(['help', name]);
      const [, file] = /^Documentation: (.*)$/m.exec(stdout) ?? [];
      expect(existsSync(file!), name).toBe(true);
    }
  });
});

const HAS_MAN = ['man', 'groff'].every((program) => spawnSync(program, ['--version']).status === 0);

describe('the man page', () => {
  it.runIf(HAS_MAN)('is shown without a warning, and names each command and flag', async () => {
    const env = { ...process.env, MANWIDTH: '120', MANROFFOPT: '-ww', MANPAGER: 'cat', LC_ALL: 'C.UTF-8' };
    const page = path.join(ROOT, 'man/nixl-otel.1');
    const { stdout, stderr } = spawnSync('man', ['-l', '--warnings=all', page], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    const { commands } = await programReference();
    for (const { name, flags } of commands.filter((one) => one.name !== 'simulate')) {
      expect(stdout).toContain(name);
      for (const { term } of flags) expect(stdout, name).toContain(term);
    }
  });
});

/** Finds the engine, the instance and the ranks of an agent by its name, its process and the ancestors. Pure. */
import { oneLine } from '../ground/one-line.js';
import {
  type ConfiguredEngine,
  type ContainerIdentity,
  type EngineIdentity,
  IDENTITY_TEXTS,
  labelOf,
  type Lineage,
  type ProcessLine,
  RANK_KINDS,
  type RankKind,
  type Ranks,
} from './engine-identity.js';
import { AGENT_NAMES, ENGINES, type EngineRow, isShellText, type Launch, UUID_NAME } from './engine-rows.js';

/** Longest text in which a pattern is searched, and longest value that one finds. */
const MOST_TEXT = 4096;
const MOST_VALUE = 200;

export class EngineTable {
  readonly #rows: readonly { readonly engine: string; readonly command?: RegExp; readonly agent?: RegExp }[];

  constructor(configured: readonly ConfiguredEngine[] = []) {
    const compiled = (source: string | undefined): RegExp | undefined =>
      source === undefined ? undefined : new RegExp(source);
    this.#rows = configured.map(({ engine, command, agent }) => {
      const [commandPattern, agentPattern] = [compiled(command), compiled(agent)];
      return {
        engine,
        ...(commandPattern && { command: commandPattern }),
        ...(agentPattern && { agent: agentPattern }),
      };
    });
  }

  /** `lineage`: undefined if the process is not seen, for the reason `unseen`. */
  identify(
    agent: string,
    lineage: Lineage | undefined,
    unseen = 'its process is not seen',
    place: ContainerIdentity = {},
  ): EngineIdentity {
    const lines = (lineage ?? []).filter((line) => !isShellText(line));
    const [known, configured] = [builtIn(agent, lines), this.#configured(agent, lines)];
    const found = { ...known, ...configured, ...place, ...ranksOf(known.ranks, configured.ranks) };
    const title = lineage?.[0] && commandOf(lineage[0]);
    const unknown = title === undefined ? unseen : `no engine is known by the command ${cut(title, 80)}`;
    return withoutUnknown({
      ...found,
      title: title && cut(title, MOST_VALUE),
      label: labelOf(agent, found),
      unknown: found.engine === undefined ? unknown : undefined,
    });
  }

  #configured(agent: string, lines: Lineage): EngineIdentity {
    for (const { engine, command, agent: name } of this.#rows) {
      const launch = command && matchIn(lines, (line) => command.exec(commandOf(line)));
      const named = name?.exec(agent.slice(0, MOST_TEXT));
      if ((command && launch === undefined) || (name && !named)) continue;
      const groups = { ...launch?.match.groups, ...named?.groups };
      const instancePid = launch?.line.pid;
      return { engine, ...(instancePid === undefined ? {} : { instancePid }), ...fieldsIn(groups) };
    }
    return {};
  }
}

function builtIn(agent: string, lines: Lineage): EngineIdentity {
  const [row, launched] = launchOf(lines);
  const named = AGENT_NAMES.map(({ name, ...rest }) => ({ ...rest, match: name.exec(agent) })).find(
    ({ match }) => match,
  );
  const told = fieldsIn(named?.match?.groups);
  const about = row?.about(launchAnswers(lines, launched)) ?? {};
  const { part, ...others } = fieldsIn(about);
  return withoutUnknown({
    engine: row?.engine ?? named?.engine,
    ...others,
    ...told,
    part: named?.part ?? (UUID_NAME.test(agent) ? part : undefined),
    ...ranksOf(told.ranks, ranksIn(lines)),
    instancePid: launched?.pid,
  });
}

/** Returns the name of the engine that a command line starts; undefined if it starts none. */
export function engineStartedBy(line: ProcessLine): string | undefined {
  if (isShellText(line)) return undefined;
  return ENGINES.find(({ name, command }) => name !== undefined && command.test(commandOf(line)))?.name;
}

/** Returns the first row of which a process is, and the nearest process with the command line of that engine. */
function launchOf(lines: Lineage): [row?: EngineRow, launched?: ProcessLine | undefined] {
  for (const row of ENGINES) {
    const candidates = row.ownCommand === true ? lines.slice(0, 1) : lines;
    const launched = matchIn(candidates, (line) => row.command.exec(commandOf(line)))?.line;
    const titled = row.title && matchIn(lines, (line) => row.title!.exec(commandOf(line)));
    if (launched !== undefined || titled !== undefined) return [row, launched];
  }
  return [];
}

function launchAnswers(lines: Lineage, launched: ProcessLine | undefined): Launch {
  const argv = launched?.argv ?? [];
  const flag = (...names: string[]): string | undefined => {
    for (const name of names) {
      const at = argv.indexOf(name);
      const value = at === -1 ? argv.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1) : argv[at + 1];
      if (value !== undefined && value !== '') return cut(value, MOST_TEXT);
    }
    return undefined;
  };
  const variable = (name: string): string | undefined => {
    for (const { environment } of lines) {
      const value = environment?.get(name);
      if (value !== undefined && value !== '') return value;
    }
    return undefined;
  };
  return { argv, flag, variable };
}

/** Ranks of the title of the process, and those of ancestors' titles that it lacks: `VLLM::EngineCore_DP1`. */
function ranksIn(lines: Lineage): Ranks {
  const ranks: Partial<Record<RankKind, number>> = {};
  for (const line of lines) {
    const title = /^[^\s:]{1,60}::(\S{1,200})$/.exec(commandOf(line))?.[1] ?? '';
    for (const [, kind, rank] of title.matchAll(/_(ATTN_CP|MOE_DP|DCP|PCP|DP|PP|TP|EP)(\d{1,6})(?=_|$)/g)) {
      ranks[kind!.toLowerCase() as RankKind] ??= Number(rank);
    }
  }
  return ranks;
}

/** `later` decides. */
function ranksOf(earlier: Ranks = {}, later: Ranks = {}): { readonly ranks?: Ranks } {
  const ranks = { ...earlier, ...later };
  return Object.keys(ranks).length === 0 ? {} : { ranks };
}

function cut(text: string, most: number): string {
  return oneLine(text.slice(0, most));
}

function matchIn(lines: Lineage, search: (line: ProcessLine) => RegExpExecArray | null) {
  for (const line of lines) {
    const match = search(line);
    if (match !== null) return { line, match };
  }
  return undefined;
}

function commandOf({ argv }: ProcessLine): string {
  return argv.join(' ').slice(0, MOST_TEXT);
}

function fieldsIn(groups: Readonly<Record<string, string | undefined>> = {}): EngineIdentity {
  const texts = IDENTITY_TEXTS.flatMap((name) => (groups[name] ? [[name, cut(groups[name], MOST_VALUE)]] : []));
  const ranks = RANK_KINDS.flatMap((kind) =>
    /^\d{1,6}$/.test(groups[kind] ?? '') ? [[kind, Number(groups[kind])]] : [],
  );
  return {
    ...(Object.fromEntries(texts) as EngineIdentity),
    ...(ranks.length > 0 && { ranks: Object.fromEntries(ranks) as Ranks }),
  };
}

/** JSON and attributes lack what is not known. */
function withoutUnknown(fields: {
  readonly [Field in keyof EngineIdentity]: EngineIdentity[Field] | undefined;
}): EngineIdentity {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}

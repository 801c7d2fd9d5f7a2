/** The terminal of top: frames, keys, and its restored state after every kind of end. */
import { writeSync } from 'node:fs';
import { emitKeypressEvents, type Key } from 'node:readline';
import { PassThrough } from 'node:stream';
import { oneLine } from '../../ground/one-line.js';
import { note } from '../../process/output.js';
import type { TopOptions } from '../options.js';
import type { Pace } from '../pace.js';
import type { Past } from '../points.js';
import type { AgentModel } from '../../view/model/agent-model.js';
import { fullNameOf } from '../selection.js';
import type { TopIncidents } from '../incidents.js';
import type { TopSizes } from '../sizes.js';
import type { TopRow, SampleSource, FleetView } from '../tracker.js';
import { agentJson, clipboardSequence, mayHaveClipboard } from './clipboard.js';
import { Doctor } from './doctor.js';
import { frame } from './frame.js';
import { copies, INITIAL, pressed, type Shown, type UiState } from './keys.js';
import { MOUSE_OFF, MOUSE_ON, pointed, separated } from './mouse.js';
import { Gathering, type Picture, sceneOf, still } from './scene.js';
import { changedChoices, type Choices, ChoicesFile } from './choices-file.js';
import { SteadyOrder } from './steady-order.js';
import { terminalText } from './terminal-text.js';
import { attempt } from '../../ground/errors.js';

/** Switches to the alternate screen, without a cursor and without line wrap. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const LEAVE = `\x1b[0m${MOUSE_OFF}\x1b[?7h\x1b[?25h\x1b[?1049l`;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** For this long after the cursor moved, the order holds still. */
const FROZEN_MS = 5_000;
/** Time between two requests for sizes, or for incidents: an answer for many agents is large. */
const SIZES_MS = 5_000;
const NOTHING_SHOWN: Shown = { ids: [], height: 0, most: 0, mostDetail: 0 };

export class Screen {
  readonly #source: SampleSource;
  readonly #unicode = supportsUnicode();
  /** False with NO_COLOR, and on terminals without colours. */
  readonly #colour = process.stdout.hasColors();
  readonly #pace: Pace;
  readonly #end: () => void;
  readonly #gathering = new Gathering();
  readonly #order = new SteadyOrder();
  readonly #doctor = new Doctor();
  /** Undefined with --no-remember. */
  readonly #choices: ChoicesFile | undefined;
  /** Input of the terminal, without the reports of its mouse. */
  readonly #keys = new PassThrough();
  #unread = '';
  #state: UiState;
  #shown = NOTHING_SHOWN;
  /** The picture at the time of a pause. */
  #paused: Picture | undefined;
  #details: { readonly id: string; readonly of: AgentModel | undefined } | undefined;
  /** Of one agent, or of all. */
  #sizes: { readonly id: string | undefined; readonly askedMs: number; readonly of: TopSizes | undefined } | undefined;
  #incidents: TopIncidents | undefined;
  #incidentsMs = -Infinity;
  #movedMs = -Infinity;
  #entered = false;

  /** `end`: the action of key q, and of a terminal that is closed. */
  constructor(source: SampleSource, options: TopOptions, pace: Pace, end: () => void) {
    this.#source = source;
    this.#choices = options.remember ? new ChoicesFile() : undefined;
    const problem = this.#choices?.problem;
    const said = problem === undefined ? '' : `Defaults are used: ${oneLine(problem)}`;
    this.#state = { ...stateOf(options, this.#choices?.choices), said };
    this.#pace = pace;
    this.#pace.setInterval(this.#state.intervalMs);
    this.#end = end;
    process.on('exit', this.#leave);
    process.on('uncaughtExceptionMonitor', this.#leave); // before the error is printed
    process.on('SIGTSTP', this.#suspend);
    process.on('SIGCONT', this.#resume);
    process.stdout.on('resize', this.#draw);
    if (process.stdin.isTTY) {
      emitKeypressEvents(this.#keys);
      this.#keys.on('keypress', this.#onKeypress);
      process.stdin.on('data', this.#onData).on('end', this.#end).on('error', this.#end);
    }
    this.#enter();
  }

  show(view: FleetView): void {
    if (this.#gathering.add(view)) this.#askForPasts();
    this.#askForDetails();
    this.#askForSizes();
    this.#askForIncidents();
    this.#draw();
  }

  close(): void {
    this.#leave();
    const problem = this.#choices?.save();
    if (problem !== undefined) note(`what keys chose is not remembered: ${problem}`, 'warning');
    this.#doctor.stop();
    process.off('exit', this.#leave).off('uncaughtExceptionMonitor', this.#leave);
    process.off('SIGTSTP', this.#suspend).off('SIGCONT', this.#resume);
    process.stdout.off('resize', this.#draw);
    process.stdin.off('data', this.#onData).off('end', this.#end).off('error', this.#end);
  }

  readonly #draw = (): void => {
    const picture = this.#picture;
    if (picture === undefined) return;
    const columns = process.stdout.columns || DEFAULT_COLUMNS;
    const rows = process.stdout.rows || DEFAULT_ROWS;
    const around = { columns, rows, origin: this.#source.name, unicode: this.#unicode };
    const frozen = performance.now() - this.#movedMs < FROZEN_MS;
    const known = { details: this.#detailsAtCursor, sizes: this.#shownSizes, incidents: this.#incidents };
    const extras = { ...known, diagnosis: this.#doctor.diagnosis };
    const scene = sceneOf(picture, this.#state, this.#order, frozen, extras);
    const { lines, shown } = frame(scene, this.#state, around);
    this.#shown = shown;
    // A terminal that is too slow for this frame gets a later one.
    if (!this.#entered || process.stdout.writableNeedDrain) return;
    process.stdout.write(terminalText(lines, columns, this.#colour));
  };

  /** Details come later than the numbers, and are drawn with the next frame. */
  #askForDetails(): void {
    const { detail, cursor, paused } = this.#state;
    if (!detail || cursor === undefined || paused) return;
    const keep = (of: AgentModel | undefined): void => {
      if (this.#state.cursor !== cursor) return;
      const isFirst = this.#details?.id !== cursor;
      this.#details = { id: cursor, of };
      if (isFirst) this.#draw();
    };
    this.#source.details(cursor).then(keep, () => keep(undefined));
  }

  /** Only while they are shown, and as rarely as they change. Without an answer, the last ones stay. */
  #askForSizes(): void {
    const { detail, sizes, cursor, paused } = this.#state;
    const id = detail ? cursor : undefined;
    if (!sizes && id === undefined) return;
    const before = this.#sizes?.id === id ? this.#sizes : undefined;
    if (before !== undefined && (paused || performance.now() - before.askedMs < SIZES_MS)) return;
    this.#sizes = { id, askedMs: performance.now(), of: before?.of };
    const keep = (of: TopSizes): void => {
      const asked = this.#sizes;
      if (asked === undefined || asked.id !== id) return;
      this.#sizes = { ...asked, of };
      this.#draw();
    };
    this.#source.sizes(id).then(keep, () => {});
  }

  #askForIncidents(): void {
    const { incidents, paused } = this.#state;
    const isNew = performance.now() - this.#incidentsMs < SIZES_MS;
    if (!incidents || isNew || (paused && this.#incidents !== undefined)) return;
    this.#incidentsMs = performance.now();
    const keep = (of: TopIncidents): void => {
      this.#incidents = of;
      this.#draw();
    };
    this.#source.incidents().then(keep, () => {});
  }

  /** Without an answer, graphs begin with the first samples. */
  #askForPasts(): void {
    const fill = (pasts: readonly Past[]): void => {
      this.#gathering.fill(pasts);
      this.#draw();
    };
    this.#source.pasts().then(fill, () => {});
  }

  #enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    if (process.stdin.isTTY) {
      process.stdin.setRawMode(true);
      process.stdin.resume();
    }
    process.stdout.write(ENTER + (this.#state.mouse ? MOUSE_ON : ''));
  }

  /** Restores the terminal. Runs also while the process ends: it must not wait, and must not throw if the terminal was closed. */
  readonly #leave = (): void => {
    if (!this.#entered) return;
    this.#entered = false;
    // A closed terminal needs no restoring.
    attempt(() => writeSync(process.stdout.fd, LEAVE));
    if (process.stdin.isTTY) attempt(() => process.stdin.setRawMode(false).pause());
  };

  readonly #suspend = (): void => {
    this.#leave();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #resume = (): void => {
    this.#enter();
    this.#draw();
  };

  readonly #onKeypress = (_: string | undefined, key: Key): void => {
    // Signals the whole job, as the terminal would: a parent such as npm stops, too.
    if (key.ctrl === true && key.name === 'z') return void process.kill(0, 'SIGTSTP');
    const state = pressed(this.#state, key, this.#shown);
    if (state === undefined) return this.#end();
    this.#setState(state);
    if (copies(state, key)) this.#state = { ...state, said: this.#copy() };
    this.#draw();
  };

  readonly #onData = (data: Buffer): void => {
    // Each byte is a character, so that none is lost at the end of a part of the input.
    const { keys, reports, rest } = separated(this.#unread + data.toString('latin1'));
    this.#unread = rest;
    for (const report of reports) this.#setState(pointed(this.#state, report, this.#shown));
    if (reports.length > 0) this.#draw();
    if (keys !== '') this.#keys.write(Buffer.from(keys, 'latin1'));
  };

  #setState(state: UiState): void {
    const before = this.#state;
    this.#state = state;
    this.#choices?.change(changedChoices(before, state));
    if (state.cursor !== before.cursor || state.offset !== before.offset) this.#movedMs = performance.now();
    if (state.intervalMs !== before.intervalMs) this.#pace.setInterval(state.intervalMs);
    if (state.paused !== before.paused) this.#pause(state.paused);
    if (state.doctor && !before.doctor) this.#diagnose();
    if (state.mouse !== before.mouse) process.stdout.write(state.mouse ? MOUSE_ON : MOUSE_OFF);
    if (state.detail && (!before.detail || state.cursor !== before.cursor)) this.#askForDetails();
    this.#askForSizes();
    this.#askForIncidents();
  }

  /** About the agent under the cursor, or about all. */
  #diagnose(): void {
    const row = this.#rowAtCursor;
    const subject = row === undefined ? this.#source.name : fullNameOf(row);
    this.#doctor.start(subject, this.#source.doctorArguments(row?.agent.id), this.#draw);
  }

  /** Copies the agent under the cursor. Returns a message: the terminal does not say whether it has copied. */
  #copy(): string {
    const [row, picture] = [this.#rowAtCursor, this.#picture];
    const command = 'nixl-otel top --once --json prints it';
    if (row === undefined || picture === undefined) return '';
    if (!mayHaveClipboard(process.env['TERM'])) return `This terminal has no clipboard: ${command}.`;
    process.stdout.write(clipboardSequence(agentJson(row, picture.view.takenMs, this.#detailsAtCursor)));
    return `Copied as JSON (OSC 52). If your terminal ignores that: ${command}.`;
  }

  /** The shown numbers: the newest ones, or those at the time of a pause. */
  get #picture(): Picture | undefined {
    return this.#paused ?? this.#gathering.picture;
  }

  get #rowAtCursor(): TopRow | undefined {
    return this.#picture?.view.rows.find(({ agent }) => agent.id === this.#state.cursor);
  }

  get #detailsAtCursor(): AgentModel | undefined {
    return this.#details?.id === this.#state.cursor ? this.#details?.of : undefined;
  }

  get #shownSizes(): TopSizes | undefined {
    const { detail, cursor } = this.#state;
    return this.#sizes?.id === (detail ? cursor : undefined) ? this.#sizes?.of : undefined;
  }

  #pause(isPaused: boolean): void {
    const { picture } = this.#gathering;
    this.#paused = isPaused && picture !== undefined ? still(picture) : undefined;
  }
}

/** Returns the state at the start. Options come before what is remembered. */
function stateOf({ sort, filter = '', all, interval, mouse }: TopOptions, remembered: Choices = {}): UiState {
  const order = sort === undefined ? {} : { sort, reverse: false, problemsFirst: sort === INITIAL.sort };
  const before = { ...INITIAL, ...remembered, ...order };
  return {
    ...before,
    filter,
    all: all ?? before.all,
    intervalMs: interval ?? before.intervalMs,
    mouse: mouse && before.mouse,
  };
}

/** Returns false if the locale has no Unicode, which has bars of eight heights. */
function supportsUnicode(): boolean {
  const { env } = process;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'UTF-8';
  return /utf-?8/i.test(locale);
}

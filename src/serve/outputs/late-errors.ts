/**
 * Handles errors that are thrown outside of every call: in a timer, a promise without a handler, an event. Node would end
 * the process. serve reports the error with the exporter or builder that threw it. If that is unknown, serve exports once
 * more and ends.
 */
import { attempt, reasonOf } from '../../ground/errors.js';
import { type BuilderCode, runBuilderCodeBy } from '../../settings/user-module.js';
import { Failure } from '../../process/failure.js';
import { oneLine } from '../../ground/one-line.js';
import { note } from '../../process/output.js';
import { currentOwner, Owner, ownerInStack } from './owners.js';

const MAX_REASON = 500;
/** A recurring error must not fill the log before serve has ended. */
const MAX_UNKNOWN = 10;

/** Watches for the rest of the process: errors during its end must not change its exit code either. */
export function watchLateErrors() {
  let unknownErrors = 0;
  let onUnknown!: () => void;
  const unknown = new Promise<void>((resolve) => (onUnknown = resolve));
  const handle = (error: unknown, owner: Owner | undefined): void => {
    if (owner !== undefined) return report(owner, shortReason(error));
    if (++unknownErrors > MAX_UNKNOWN) return;
    const end = unknownErrors === 1 ? '; serve drains the rings, exports once more and ends' : '';
    note(`an error of no known exporter or builder: ${stackOrReason(error)}${end}`, 'error');
    onUnknown();
  };
  const take = (error: unknown): void => handle(error, currentOwner() ?? ownerInStack(error));
  process.on('uncaughtException', take);
  process.on('unhandledRejection', take);
  watchMicrotasks(handle);
  refuseExit();
  const builders = new WeakMap<object, Owner>();
  runBuilderCodeBy((builder, work) => {
    const owner = builders.get(builder) ?? ownerOf(builder);
    builders.set(builder, owner);
    return owner.run(work);
  });
  return {
    /** Resolves at the first error without a known owner. */
    unknown,
    /** @throws Failure after an error without a known owner. */
    check: (): void => {
      if (unknownErrors > 0) throw new Failure('ended because of an error of unknown origin');
    },
  };
}

function report(owner: Owner, reason: string): void {
  owner.exports?.threwLate();
  if (++owner.lateErrors > 1) return;
  const rest = 'serve continues, and only counts its further errors';
  note(`${owner.name} threw outside of a call, in a timer, promise or event: ${reason}; ${rest}`, 'error');
}

/** Before Node 24, an error of a microtask is reported without the context that queued it. */
function watchMicrotasks(handle: (error: unknown, owner: Owner) => void): void {
  const queue = globalThis.queueMicrotask;
  globalThis.queueMicrotask = (work) => {
    const owner = currentOwner();
    if (owner === undefined || typeof work !== 'function') return queue(work);
    queue(() => {
      try {
        work();
      } catch (error) {
        handle(error, owner);
      }
    });
  };
}

/** process.exit() in an exporter would cost the other outputs their last export. */
function refuseExit(): void {
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    if (currentOwner() === undefined) return exit(code);
    throw new Error(`it called process.exit(${code ?? ''}), which is not allowed here`);
  };
}

function ownerOf(builder: BuilderCode): Owner {
  const owner = new Owner(`builder ${attempt(() => oneLine(builder.name)) ?? 'without a name'}`);
  if (builder.file !== undefined) owner.files.push(builder.file);
  return owner;
}

function shortReason(error: unknown): string {
  const reason = oneLine(reasonOf(error));
  return reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}...` : reason;
}

function stackOrReason(error: unknown): string {
  // A getter of the error may throw.
  const stack: unknown = attempt(() => error instanceof Error && error.stack);
  return typeof stack === 'string' ? stack : shortReason(error);
}

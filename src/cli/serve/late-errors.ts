/**
 * Handles errors that are thrown outside of every call: in a timer, a promise without a handler, an event. By default such
 * an error ends the process. Here it is reported with the exporter or builder whose code threw it; where that is not
 * known, serve exports once more and ends.
 */
import { reasonOf } from '../../errors.js';
import { type BuilderCode, runBuilderCodeBy } from '../../settings/user-module.js';
import { Failure } from '../process/failure.js';
import { oneLine } from '../../one-line.js';
import { note } from '../process/output.js';
import { currentOwner, Owner, ownerInStack } from './owners.js';

const MAX_REASON = 500;
/** An error that comes again and again must not fill the log before serve has ended. */
const MAX_UNKNOWN = 10;

export class LateErrors {
  /** Resolves at the first error whose owner is not known. */
  readonly unknown: Promise<void>;
  #onUnknown!: () => void;
  #unknownErrors = 0;
  readonly #builders = new WeakMap<object, Owner>();

  private constructor() {
    this.unknown = new Promise((resolve) => {
      this.#onUnknown = resolve;
    });
  }

  /** For the rest of the process: what is thrown while it ends must not change its exit code either. */
  static watch(): LateErrors {
    const errors = new LateErrors();
    const take = (error: unknown): void => errors.#take(error, currentOwner() ?? ownerInStack(error));
    process.on('uncaughtException', take);
    process.on('unhandledRejection', take);
    errors.#watchMicrotasks();
    refuseExit();
    runBuilderCodeBy((builder, work) => errors.#ownerOf(builder).run(work));
    return errors;
  }

  /** @throws Failure when there was an error whose owner is not known. */
  check(): void {
    if (this.#unknownErrors > 0) {
      throw new Failure('ended because of an error that belongs to no exporter or builder that is known');
    }
  }

  #take(error: unknown, owner: Owner | undefined): void {
    const reason = shortReason(error);
    if (owner !== undefined) {
      if (owner.countLateError() > 1) return;
      const rest = 'everything else goes on, and further ones of it are not reported';
      note(`${owner.name} threw outside of a call, in a timer, promise or event: ${reason}; ${rest}`, 'error');
      return;
    }
    if (++this.#unknownErrors > MAX_UNKNOWN) return;
    const end = this.#unknownErrors === 1 ? '; serve drains the rings, exports once more and ends' : '';
    note(
      `an error that belongs to no exporter or builder that is known: ${stackOrReason(error, reason)}${end}`,
      'error',
    );
    this.#onUnknown();
  }

  /** Before Node 24 what a microtask throws is reported without the context that it was queued in. */
  #watchMicrotasks(): void {
    const queue = globalThis.queueMicrotask;
    globalThis.queueMicrotask = (work) => {
      const owner = currentOwner();
      if (owner === undefined || typeof work !== 'function') return queue(work);
      queue(() => {
        try {
          work();
        } catch (error) {
          this.#take(error, owner);
        }
      });
    };
  }

  #ownerOf(builder: BuilderCode): Owner {
    let owner = this.#builders.get(builder);
    if (owner === undefined) {
      owner = new Owner(`builder ${nameOf(builder)}`);
      if (builder.file !== undefined) owner.files.push(builder.file);
      this.#builders.set(builder, owner);
    }
    return owner;
  }
}

/** process.exit() in an exporter would cost the other outputs their last export. */
function refuseExit(): void {
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    if (currentOwner() === undefined) return exit(code);
    throw new Error(`it called process.exit(${code ?? ''}), which is not allowed here`);
  };
}

function nameOf(builder: BuilderCode): string {
  try {
    return oneLine(builder.name);
  } catch {
    return 'without a name';
  }
}

function shortReason(error: unknown): string {
  const reason = oneLine(reasonOf(error));
  return reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}...` : reason;
}

function stackOrReason(error: unknown, reason: string): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : reason;
  } catch {
    return reason;
  }
}

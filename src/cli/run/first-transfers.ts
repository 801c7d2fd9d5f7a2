/** The first transfer of each agent, from the first events of each type that it wrote. Pure. */
import { TransferEvent } from '../../ground/tally.js';
import type { TypeBatch } from '../../shm-bridge/types.js';
import type { FirstTransfer } from '../../report/run-report.js';

const { TX_BYTES, RX_BYTES, XFER_TIME, XFER_POST_TIME } = TransferEvent;
export const TRANSFER_TYPES: readonly number[] = [TX_BYTES, RX_BYTES, XFER_TIME, XFER_POST_TIME];

interface FirstEvents {
  postUs?: number;
  timeUs?: number;
  transfer?: Omit<FirstTransfer, 'postTimeUs'>;
}

export class FirstTransfers {
  readonly #events = new Map<number, FirstEvents>();

  /** The time of a transfer comes before its bytes in every wire version. */
  add({ length, agentIds, types, values }: TypeBatch): void {
    for (let i = 0; i < length; i++) {
      const id = agentIds[i]!;
      let own = this.#events.get(id);
      if (own === undefined) this.#events.set(id, (own = {}));
      const value = values[i]!;
      if (types[i] === XFER_POST_TIME) own.postUs ??= value;
      else if (types[i] === XFER_TIME) own.timeUs ??= value;
      else if (own.timeUs !== undefined && own.transfer === undefined) {
        own.transfer = { direction: types[i] === TX_BYTES ? 'tx' : 'rx', bytes: value, timeUs: own.timeUs };
      }
    }
  }

  /** `hasPost`: whether a post is written with its transfer, and not when it is posted. */
  of(id: number, hasPost: boolean): FirstTransfer | undefined {
    const { postUs, transfer } = this.#events.get(id) ?? {};
    return transfer && { ...transfer, ...(hasPost && postUs !== undefined && { postTimeUs: postUs }) };
  }
}

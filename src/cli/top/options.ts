/** Options of the command. */
import { wholeNumber } from '../../settings/shape.js';
import type { ClientOptions } from '../client-options.js';
import type { SortKey } from './columns.js';

/** Time between two frames. */
export const INTERVAL_MS = wholeNumber(100, 3_600_000);
export const DEFAULT_INTERVAL_MS = 1_000;

export interface TopOptions extends ClientOptions {
  dir?: string[];
  url?: readonly string[];
  /** Milliseconds. */
  interval?: number;
  count?: number;
  once?: boolean;
  json?: boolean;
  sort?: SortKey;
  filter?: string;
  all?: boolean;
  mouse: boolean;
  remember: boolean;
}

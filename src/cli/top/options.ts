/** Options of the command. */
import type { SortKey } from './columns.js';

export interface TopOptions {
  dir?: string[];
  url?: readonly string[];
  /** Milliseconds. */
  interval: number;
  count?: number;
  once?: boolean;
  json?: boolean;
  sort?: SortKey;
  filter?: string;
  all?: boolean;
}

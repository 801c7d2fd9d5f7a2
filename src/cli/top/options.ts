/** Options of the command. */
import type { ClientOptions } from '../client-options.js';
import type { SortKey } from './columns.js';

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

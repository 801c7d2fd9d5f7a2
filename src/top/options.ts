/** Options of the command. */
import type { ClientOptions } from '../view/client/client-options.js';

export interface TopOptions extends ClientOptions {
  dir?: string[];
  url?: readonly string[];
  /** Milliseconds. */
  interval?: number;
  count?: number;
  once?: boolean;
  json?: boolean;
  sort?: string;
  filter?: string;
  all?: boolean;
  mouse: boolean;
  remember: boolean;
}

/** Rows of docs/compatibility.md whose proof is `npm run test:matrix`. */
import { proveRows } from '../compatibility/prove.js';

proveRows('npm run test:matrix');

/** Rows of docs/compatibility.md whose proof is `npm run test:package`. */
import { proveRows } from '../compatibility/prove.js';

proveRows('npm run test:package');

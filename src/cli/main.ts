#!/usr/bin/env node
/** The command `nixl-otel`. */
import { run } from './program.js';

process.exit(await run(process.argv.slice(2)));

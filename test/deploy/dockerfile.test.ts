/** The Dockerfile: no findings of a linter, a user other than root, a working health check. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { start, temporaryDirectory } from '../cli/command.js';
import { tool } from '../support/package.js';
import { at } from './manifests.js';

const text = readFileSync(at('Dockerfile'), 'utf8');

/** Returns the JSON arguments of the matching instruction. */
const wordsOf = (pattern: RegExp): string[] => JSON.parse(pattern.exec(text)![1]!) as string[];

test('dockerfile-utils finds nothing, and would find a mistake', async () => {
  const linter = path.join(await tool('dockerfile-utils@0.16.3', 'dockerfile-utils'), 'lib/main.js');
  const { validate } = (await import(linter)) as { validate: (text: string) => { message: string }[] };
  expect(validate(text)).toEqual([]);
  expect(validate(text.replace('HEALTHCHECK', 'HEALTHCHEK'))).not.toEqual([]);
});

test('its last user is a number other than 0: Kubernetes recognises it as not root', () => {
  const users = [...text.matchAll(/^USER (\d+):(\d+)$/gm)];
  expect(users).toHaveLength(1);
  expect(Number(users[0]![1])).toBeGreaterThan(0);
});

test('its health check succeeds with a running serve, and fails without', async () => {
  const [program, ...args] = wordsOf(/HEALTHCHECK[^[]*(\[.*\])$/m);
  expect(program).toBe('node');
  const [, port] = /^EXPOSE (\d+)$/m.exec(text)!;
  const command = wordsOf(/^CMD (\[.*\])$/m);
  const serve = start([...command, '--port', '0'], { NIXL_TELEMETRY_DIR: temporaryDirectory() });
  const [, actual] = await serve.says(/serves http:\/\/0\.0\.0\.0:(\d+)\/metrics/);
  const check = args.map((arg) => arg.replace(`:${port}/`, `:${actual}/`));
  expect(check).not.toEqual(args);
  expect(spawnSync(process.execPath, check).status).toBe(0);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  expect(spawnSync(process.execPath, check).status).toBe(1);
});

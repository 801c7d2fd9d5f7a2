/** Option with the directories of rings, apart from the other options: commands that only read rings have no other. */
import { outputPathOf } from './nixl-variables.js';
import type { OptionRow } from './row.js';
import { filePath, oneOrMore, texts } from './shape.js';

export const DIRECTORIES = {
  shape: oneOrMore(filePath, texts.allowed),
  isPath: () => true,
  passedTo: 'source',
  isList: true,
  flag: { name: 'dir', takes: '<dir>', repeats: true },
  group: 'Rings',
  variables: [
    { name: 'NIXL_TELEMETRY_DIR' },
    { ...outputPathOf('buffer', (text) => [text]), serveOnly: true },
    { name: 'NIXL_TELEMETRY_MULTIPROC_DIR', serveOnly: true },
  ],
  description: 'directory of rings, searched to depth 3',
} as const satisfies OptionRow;

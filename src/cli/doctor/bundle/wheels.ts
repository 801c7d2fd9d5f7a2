/** Versions of the Python packages that brought a library, by the names of the folders that `pip` writes beside them. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../ground/errors.js';

/** Example: `nixl_cu12-1.5.1.dist-info`. Other packages are left out. */
const PACKAGE =
  /^((?:ai_dynamo|libucx|lmcache|nixl|rixl|sglang|tensorrt_llm|torch|ucx|vllm)\w*-[^/]{1,80})\.dist-info$/;
/** A library is at most so many folders below them: `site-packages/nixl_cu12/plugins/x.so`. */
const MOST_FOLDERS = 4;

/** Returns names with versions, as `nixl_cu12-1.5.1`. `root`: where the file system of the process is seen. */
export function wheelsBeside(libraries: readonly string[], root: string): string[] {
  const folders = new Set(libraries.map((library) => path.dirname(library)));
  return [...new Set([...folders].flatMap((folder) => wheelsAbove(folder, root)))].sort();
}

function wheelsAbove(folder: string, root: string): string[] {
  for (let at = folder, i = 0; i < MOST_FOLDERS && at !== '/'; i++, at = path.dirname(at)) {
    const names = attempt(() => readdirSync(path.join(root, at))) ?? [];
    const found = names.flatMap((name) => PACKAGE.exec(name)?.[1] ?? []);
    if (found.length > 0) return found;
  }
  return [];
}

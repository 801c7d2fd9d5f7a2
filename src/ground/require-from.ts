/**
 * Returns a `require` of a file or folder. Not by an import of node:module: webpack replaces createRequire() by undefined
 * where it cannot evaluate the argument, and esbuild's usual banner for ES modules declares that name as well.
 */
export function requireFrom(location: string | URL): NodeJS.Require {
  return process.getBuiltinModule('node:module').createRequire(location);
}

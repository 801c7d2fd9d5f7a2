/** Filter of agents by their names. Pure. */

/**
 * Returns the test of a filter: a part of the name, in which `?` is any character. A filter with `*` is a glob of the
 * whole name. Upper and lower case are the same.
 */
export function nameFilter(filter: string): (name: string) => boolean {
  const escaped = filter.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  const source = escaped.replaceAll('*', '.*').replaceAll('?', '.');
  const pattern = new RegExp(filter.includes('*') ? `^${source}$` : source, 'isu');
  return (name) => pattern.test(name);
}

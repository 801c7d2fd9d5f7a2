/** Returns a count and its noun: `1 ring`, `1,200 rings`. Pure. */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

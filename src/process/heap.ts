/** Memory of V8 in serve, which makes and drops much at once with each scrape. */
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the space for new objects at its first size, a megabyte: V8 doubles it up to 16 MB. Collecting a small space more often
 * takes no more time: nearly nothing in it survives. Old objects are collected when they have grown by some megabytes; by
 * default V8 waits until there are three times as many.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=10');
}

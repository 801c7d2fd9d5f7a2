import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '..');
export const PREBUILDS = path.join(ROOT, 'prebuilds');
export const PLATFORMS = ['linux-x64-glibc', 'linux-x64-musl', 'linux-arm64-glibc', 'linux-arm64-musl'];

/** The oldest glibc that the glibc binaries may need. Node.js 20 itself needs 2.28. */
export const OLDEST_GLIBC = '2.17';

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/deploy/**/*.test.ts'],
    testTimeout: 180_000, // some fetch from a registry
    hookTimeout: 180_000,
  },
});

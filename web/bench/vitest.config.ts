import { defineConfig } from "vitest/config";

// Measures, and judges nothing: `make bench` runs it, `make test` does not.
export default defineConfig({
  test: {
    include: ["bench/**/*.bench.ts"],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    reporters: ["dot"],
  },
});

import { defineConfig } from "vitest/config";

// One gate and one browser at a time: these tests look at screens, not at speed.
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

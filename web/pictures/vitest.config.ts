import { defineConfig } from "vitest/config";

// The pictures of the documentation: `scripts/pictures` takes them anew.
export default defineConfig({
  test: {
    include: ["pictures/**/*.pictures.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

import { defineConfig } from "vitest/config";

const looks = ["e2e/**/*looks.e2e.ts", "e2e/serving.e2e.ts"];

// What people do is tried on both stores; how pages look does not depend on where the data is kept. Postgres takes part
// where `with-postgres` started a server: `scripts/run-web-tests` does.
const stores = process.env.TOOLGATE_TEST_POSTGRES ? ["sqlite", "postgres"] : ["sqlite"];

export default defineConfig({
  test: {
    // Each file has a gate and a browser of its own: two at a time are what two cores carry.
    maxWorkers: Number(process.env.E2E_WORKERS ?? 2),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: stores.map((store) => ({
      extends: true,
      test: {
        name: store,
        include: ["e2e/**/*.e2e.ts"],
        exclude: store === "postgres" ? looks : [],
        env: { E2E_STORE: store },
      },
    })),
  },
});

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const gate = process.env.TOOLGATE_URL ?? "http://127.0.0.1:8787";
const page = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Leaves a packed copy beside each file that is worth packing: the gate hands it out without packing anything itself. */
function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    writeBundle({ dir }) {
      for (const entry of readdirSync(dir!, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const bytes = readFileSync(path);
        if (bytes.length > 1024) writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), packed()],
  resolve: {
    alias: {
      "@": page("./src"),
      // The form library names it for tests of its own. It builds code from schemas, which the page's policy forbids.
      "@rjsf/validator-ajv8": page("./src/form/no-ajv.ts"),
    },
  },
  build: {
    // Data URLs would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    rolldownOptions: { input: { main: page("./index.html"), embed: page("./src/embed/main.ts"), "shared-run": page("./src/share/main.tsx") } },
  },
  server: {
    // What the single-page app does not draw itself comes from the gate.
    proxy: Object.fromEntries(
      ["/api", "/auth", "/sign-in", "/sign-out", "/set-up", "/invite", "/embed", "/share", "/oauth"].map((path) => [path, { target: gate, changeOrigin: false }]),
    ),
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing.ts"],
    // So that the alias above holds inside it too.
    server: { deps: { inline: [/@rjsf/] } },
  },
});

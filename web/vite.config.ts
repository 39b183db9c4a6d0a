import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const gate = process.env.TOOLGATE_URL ?? "http://127.0.0.1:8787";
const page = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": page("./src") } },
  build: {
    // Data URLs would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    rolldownOptions: { input: { main: page("./index.html") } },
  },
  server: {
    // What the single-page app does not draw itself comes from the gate.
    proxy: Object.fromEntries(
      ["/api", "/auth", "/sign-in", "/sign-out", "/set-up", "/invite", "/embed"].map((path) => [path, gate]),
    ),
  },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], setupFiles: ["src/testing.ts"] },
});

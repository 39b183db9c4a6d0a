import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The administrator's key of every test gate. */
export const ADMIN_KEY = `tgk_${"e2".repeat(32)}`;
export const LOGIN = "ada";
export const PASSWORD = "correct horse battery";

const binary = process.env.TOOLGATE ?? join(import.meta.dirname, "../../target/debug/toolgate");

/** Which store the gates of this run keep their data in; the project in `vitest.config.ts` says it. */
export const STORE = process.env.E2E_STORE === "postgres" ? "postgres" : "sqlite";

/** An empty database on the server that `with-postgres` started, which takes it away again when it ends. */
function database(): string {
  const server = new URL(process.env.TOOLGATE_TEST_POSTGRES!);
  const name = `toolgate_e2e_${randomUUID().replaceAll("-", "")}`;
  execFileSync("psql", ["--quiet", "--dbname", server.href, "--command", `CREATE DATABASE ${name} TEMPLATE template0`]);
  server.pathname = name;
  return server.href;
}

/** The real binary on a port of its own, with data of its own. */
export class Gate {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
    readonly setUpLink: string,
  ) {}

  /** With the fixture tools. */
  static start(...more: string[]): Promise<Gate> {
    return Gate.bare("--fixture-tools", ...more);
  }

  /** With the tools it is shipped with, and no others. */
  static async bare(...more: string[]): Promise<Gate> {
    const folder = mkdtempSync(join(tmpdir(), "toolgate-e2e-"));
    const args = ["serve", "--listen", "127.0.0.1:0", "--data", join(folder, "data"), ...more];
    if (STORE === "postgres") args.push("--database-url", database());
    const child = spawn(binary, args, { env: { ...process.env, TOOLGATE_ADMIN_KEY: ADMIN_KEY }, stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    const link = await new Promise<[string, string]>((resolve, reject) => {
      child.stderr!.on("data", (part: Buffer) => {
        log += part.toString();
        const url = /listens on (http:\/\/[0-9.:]+)/.exec(log)?.[1];
        const setUp = /(http:\/\/\S+\/set-up\?token=[0-9a-f]+)/.exec(log)?.[1];
        if (url && setUp) resolve([url, setUp]);
      });
      child.once("exit", (code) => reject(new Error(`the gate ended with ${code}\n${log}`)));
      child.once("error", reject);
    });
    return new Gate(child, folder, ...link);
  }

  /** Asks the API with the administrator's key. */
  async api(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
    const answer = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json().catch(() => null) };
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

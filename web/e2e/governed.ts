import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import type { Gate } from "./gate";

const server = process.env.SCRIPTED_MCP ?? join(import.meta.dirname, "../../target/debug/scripted-mcp");

/** A small MCP server whose tools stand in a file: writing them anew is how it changes. */
export class Scripted {
  readonly command = server;
  readonly file = join(mkdtempSync(join(tmpdir(), "toolgate-mcp-")), "tools.json");

  constructor(tools: unknown[]) {
    this.offers(tools);
  }

  offers(tools: unknown[]): void {
    writeFileSync(this.file, JSON.stringify(tools));
  }

  end(): void {
    rmSync(dirname(this.file), { recursive: true, force: true });
  }

  /** Writes it down at the gate, and has the gate look at its tools. */
  async add(gate: Gate, name: string): Promise<void> {
    const transport = { kind: "stdio", command: this.command, args: [this.file], env: {} };
    const put = await gate.api("PUT", `/upstreams/${name}`, { title: "Notes of the team", transport, enabled: true, auth: "none" });
    if (put.status !== 200) throw new Error(JSON.stringify(put.body));
    const looked = await gate.api("POST", `/upstreams/${name}/refresh`);
    if (looked.status !== 200) throw new Error(JSON.stringify(looked.body));
  }
}

/** Accepts a tool of a server as one that only reads. */
export async function accept(gate: Gate, id: string): Promise<void> {
  const { digest } = (await gate.api("GET", `/upstream-tools/${id}`)).body;
  const accepted = await gate.api("POST", `/upstream-tools/${id}/accept`, { digest, effect: "read", egress: "none", redaction_allow: ["*"] });
  if (accepted.status !== 200) throw new Error(JSON.stringify(accepted.body));
}

/** A tool as an MCP server lists it. */
export const offer = (name: string, description: string, properties: Record<string, unknown> = { q: { type: "string" } }) => ({
  name,
  description,
  inputSchema: { type: "object", properties },
  does: "echo",
});

/** One that always answers with the same. */
export const answers = (name: string, result: unknown) => ({ ...offer(name, `Answers with ${name}.`), does: "answer", result });

/** Something of everything that is governed. */
export async function govern(gate: Gate): Promise<void> {
  const made = async (method: string, path: string, body?: unknown) => {
    const answer = await gate.api(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await made("PUT", "/roles/support", { description: "answers customers", rules: ["crm.contacts.read"] });
  await made("POST", "/principals", { id: "user:grace", title: "Grace", roles: ["member", "support"] });
  await made("POST", "/principals", { id: "agent:helper", title: "Helper", acts_for: ["user:*"] });
  await made("POST", "/principals", { id: "service:nightly", title: "Nightly report" });
  await made("PUT", "/toolsets/reading", { title: "What only reads", tools: ["core__*"], effects: ["read"], mode: "search" });
  await made("PUT", "/profiles/careful", { description: "every call asks", approval: "always_ask", rate_per_minute: 10, arguments: { type: "object", maxProperties: 20 } });
  await made("PUT", "/assignments", { agent: "agent:helper", toolset: "reading", profile: "careful" });
  await made("PUT", "/assignments", { agent: "agent:helper", tool: "core__calculate_roi" });
  await made("PUT", "/limits/agents", { principals: ["agent:*"], per: "principal", rate_per_minute: 60, cost: { micros: 5_000_000, every: "day" } });
  await made("PUT", "/approval-rules/two-for-destruction", { effects: ["destructive"], needed: 2, approvers: ["approver"], escalate_after_seconds: 1800 });
  await made("POST", "/keys", { principal: "agent:helper", label: "laptop", scopes: ["tool:core__*", "effect:read"], expires_in_seconds: 86_400 });
  await made("POST", "/oauth/clients", { id: "desk", name: "Desk <b>app</b>", redirect_uris: ["https://desk.example.com/back"], scopes: ["tools:read"], confidential: true });
  const input = { initial_cost: 100_000, years: [{ benefit: 40_000 }, { benefit: 60_000 }], horizon_years: 4 };
  for (let call = 0; call < 3; call += 1) await made("POST", "/tools/core__calculate_roi/invoke", { input });
  const { text } = await made("GET", "/policy");
  await made("PUT", "/policy", { text: `${text}\n// Reviewed.\n`, note: "reviewed with the team" });
}

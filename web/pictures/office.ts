import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Gate } from "../e2e/gate";

type Effect = "read" | "mutate" | "destructive";

const tool = (id: string, title: string, category: string, icon: string, effect: Effect, description: string, properties: object = {}) => ({
  id: `office__${id}`, title, description, category, icon, effect,
  approval: effect === "destructive" ? "always_ask" : "auto",
  input_schema: { type: "object", properties },
  output_schema: { type: "object" },
  redaction: { allow: ["*"] },
  execution: { kind: "external" },
});

/** What a made-up office has beside the tools that come with the gate. */
const tools = [
  tool("compare_vendors", "Compare vendors", "finance", "scale", "read", "Scores a shortlist of vendors on weighted criteria and explains who comes out ahead, and why."),
  tool("reconcile_invoices", "Reconcile invoices", "finance", "receipt", "mutate", "Matches bank lines to open invoices and proposes postings for everything that fits within tolerance."),
  tool("erase_customer", "Erase customer data", "compliance", "user-x", "destructive", "Removes a person from every connected system and returns a signed record of what was deleted."),
  tool("query_warehouse", "Query the warehouse", "data", "database", "read", "Runs a read-only SQL query with row and time limits, and returns a typed table."),
  tool("triage_tickets", "Triage support tickets", "support", "inbox", "mutate", "Reads new tickets, suggests a queue, priority and first answer; a person confirms the batch."),
  tool("find_slot", "Find a meeting slot", "people", "calendar-search", "read", "Looks across calendars and working hours, and offers the three best times for a group."),
  tool("roll_out", "Roll out a release", "engineering", "rocket", "destructive", "Promotes a build through staging to production in steps, watching error rates between them."),
];

/** A gate of that office. `end` takes its folder away. */
export async function office(): Promise<{ gate: Gate; end: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "toolgate-office-"));
  mkdirSync(join(folder, "tools"));
  for (const one of tools) writeFileSync(join(folder, "tools", `${one.id}.json`), JSON.stringify(one));
  writeFileSync(join(folder, "toolgate.toml"), `[tools]\nfolder = ${JSON.stringify(join(folder, "tools"))}\n`);
  const gate = await Gate.bare("--config", join(folder, "toolgate.toml"));
  return {
    gate,
    end: async () => {
      await gate.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

import type { AuditSearch } from "./routes";

/** One event of the record, as it is listed. */
export type AuditEvent = {
  session_id: string;
  seq: number;
  call_id: string;
  type: string;
  actor: string;
  subject?: string | null;
  tool?: string | null;
  at: string;
  at_micros: number;
  data?: Record<string, unknown> | null;
  prev_hash: string;
  hash: string;
};

/** What the list is narrowed by, in the words of the API. */
export type EventFilter = { type?: string[]; actor?: string; tool?: string; session?: string; invocation?: string; from?: string };

const decisions = ["tool.needs_approval", "tool.approved", "tool.rejected", "tool.review_changed"];
const calls = ["started", "output_appended", "waiting", "completed", "failed", "cancelled", "cancel_requested", "expired", "in_doubt", "late_result"];

const types: Record<NonNullable<AuditSearch["kind"]>, string[]> = {
  calls: calls.map((word) => `tool.${word}`),
  failed: ["tool.failed"],
  decisions,
  changes: ["admin."],
};

/** What the address asks for; `from` is when a span begins. */
export function filterOf(search: AuditSearch, from: string | undefined): EventFilter {
  return {
    type: search.kind ? types[search.kind] : undefined,
    actor: search.actor,
    tool: search.tool,
    session: search.about?.startsWith("ses_") ? search.about : undefined,
    invocation: search.about?.startsWith("inv_") ? search.about : undefined,
    from,
  };
}

/** The same in an address. */
export function queryOf(filter: EventFilter): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    for (const one of [value ?? []].flat()) query.append(name, one);
  }
  return query;
}

/** Where an event stands: enough to find it again, however long the record has become. */
export const eventKey = (event: AuditEvent): string => `${event.at_micros}.${event.seq}.${event.session_id}`;

/** The moment of an event by its key, and the one right after it. */
export function momentOf(key: string): { from: string; to: string } | null {
  const micros = /^(\d{1,16})\.\d{1,18}\.ses_[0-9a-z]+$/.exec(key)?.[1];
  if (micros === undefined) return null;
  const exact = (at: number) => `${new Date(Math.floor(at / 1000)).toISOString().slice(0, -1)}${String(at % 1000).padStart(3, "0")}Z`;
  return { from: exact(Number(micros)), to: exact(Number(micros) + 1) };
}

/** A principal as people type it: a bare name is a user's. */
export const principalIn = (typed: string): string => (typed === "" || typed.includes(":") ? typed : `user:${typed}`);

/** What an event is about, in one line: the tool of a call, or what was changed. */
export function aboutOf(event: AuditEvent): string {
  const data = event.data ?? {};
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  if (event.type === "admin.changed") {
    const keys = ["name", "id", "tool", "principal", "agent", "service", "target", "upstream", "client", "call"];
    return [text(data.action), keys.map((key) => text(data[key])).find(Boolean)].filter(Boolean).join(" ");
  }
  return event.tool ?? text((data.call as { tool?: unknown } | undefined)?.tool);
}

/** Events with one more in front; one that is there already is there once. */
export function withNews(events: AuditEvent[], news: AuditEvent): AuditEvent[] {
  return events.some((event) => eventKey(event) === eventKey(news)) ? events : [news, ...events];
}

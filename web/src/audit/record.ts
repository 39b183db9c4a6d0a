import { queryOptions } from "@tanstack/react-query";

import { goToSignIn, problemOf } from "@/api/client";

/** One event of the record, as it is exported. */
export type AuditEvent = {
  session_id: string;
  seq: number;
  call_id?: string | null;
  type: string;
  actor: string;
  at: string;
  at_micros: number;
  data?: Record<string, unknown> | null;
  prev_hash: string;
  hash: string;
};

export type AuditRecord = { events: AuditEvent[]; read: number; bytes: number; whole: boolean };

/** The most events that are kept in sight, and the most that is read for it. */
const MOST_EVENTS = 20_000;
const MOST_BYTES = 48 * 1024 * 1024;

export const eventKey = (event: AuditEvent): string => `${event.session_id}.${event.seq}`;

const newestFirst = (a: AuditEvent, b: AuditEvent): number => b.at_micros - a.at_micros || b.seq - a.seq;

/** Reads lines of JSON as they come, keeps the newest events, and stops where it gets too much. */
export async function readRecord(body: ReadableStream<Uint8Array>, mostEvents = MOST_EVENTS, mostBytes = MOST_BYTES): Promise<AuditRecord> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let events: AuditEvent[] = [];
  let [rest, read, bytes, whole] = ["", 0, 0, true];
  const take = (line: string) => {
    if (line.trim() === "") return;
    events.push(JSON.parse(line) as AuditEvent);
    read += 1;
    // The export goes session by session, not by time: only what is old for certain is let go.
    if (events.length > mostEvents * 2) events = events.sort(newestFirst).slice(0, mostEvents);
  };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
    if (bytes > mostBytes) {
      whole = false;
      await reader.cancel();
      break;
    }
  }
  if (whole) take(rest);
  return { events: events.sort(newestFirst).slice(0, mostEvents), read, bytes, whole };
}

/** The newest events of the record. */
export const recordQuery = queryOptions({
  queryKey: ["audit", "record"],
  queryFn: async ({ signal }) => {
    const response = await fetch("/api/v1/audit/export", { signal });
    if (response.status === 401) goToSignIn();
    if (!response.ok || !response.body) throw problemOf(response, await response.json().catch(() => null));
    return readRecord(response.body);
  },
  staleTime: 5_000,
});

/** Calls, what people decided on them, and changes by managers. */
export function kindOf(event: AuditEvent): "calls" | "decisions" | "changes" {
  if (event.type === "admin.changed") return "changes";
  return ["tool.needs_approval", "tool.approved", "tool.rejected", "tool.review_changed"].includes(event.type) ? "decisions" : "calls";
}

/** What an event is about, in one line: the tool of a call, or what was changed. */
export function aboutOf(event: AuditEvent): string {
  const data = event.data ?? {};
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  if (event.type === "admin.changed") {
    const name = ["name", "id", "tool", "principal", "agent", "service", "target", "upstream", "client"].map((key) => text(data[key])).find(Boolean);
    return [text(data.action), name].filter(Boolean).join(" ");
  }
  const call = data.call as { tool?: unknown } | undefined;
  return text(call?.tool);
}

/** The tool of each call, told by the event that began it. */
export function toolsOf(events: readonly AuditEvent[]): Map<string, string> {
  const tools = new Map<string, string>();
  for (const event of events) {
    const tool = aboutOf(event);
    if (event.call_id && tool !== "" && event.type !== "admin.changed") tools.set(event.call_id, tool);
  }
  return tools;
}

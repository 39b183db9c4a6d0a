const number = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

/** A number with at most two decimals. */
export const formatNumber = (value: number): string => number.format(value);
/** A whole number. */
export const formatCount = (value: number): string => integer.format(value);
/** A share of 1 as percent. */
export const formatShare = (share: number): string => `${percent.format(share * 100)}%`;
/** A moment in full. */
export const formatExact = (at: string | number | Date): string => exact.format(new Date(at));
/** The time of a moment's day. */
export const formatClock = (at: string | number | Date): string => clock.format(new Date(at));

/** `1 call`, `2 calls`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** How long ago, or how long until, in words as short as they can be. */
export function formatRelative(at: string | number | Date, now: number = Date.now()): string {
  const seconds = Math.round((now - new Date(at).getTime()) / 1000);
  const away = Math.abs(seconds);
  const say = (amount: number, unit: string) => (seconds >= 0 ? `${amount} ${unit} ago` : `in ${amount} ${unit}`);
  if (away < 10) return seconds >= 0 ? "just now" : "in a moment";
  if (away < 60) return say(away, "s");
  if (away < 3600) return say(Math.round(away / 60), "min");
  if (away < 86_400) return say(Math.round(away / 3600), "h");
  const days = Math.round(away / 86_400);
  if (days === 1) return seconds >= 0 ? "yesterday" : "tomorrow";
  if (days < 30) return say(days, "days");
  return day.format(new Date(at));
}

/** A span of milliseconds. */
export function formatDuration(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

/** `user:ada@example.com` as a name and its kind. */
export function principalName(principal: string): { kind: string; name: string } {
  const at = principal.indexOf(":");
  return at < 0 ? { kind: "", name: principal } : { kind: principal.slice(0, at), name: principal.slice(at + 1) };
}

/** Up to two letters for an avatar. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => word[0]) : [...(words[0] ?? "?")].slice(0, 2);
  return letters.join("").toUpperCase();
}

/** A word in snake_case as people write it. */
export function humanWord(word: string): string {
  const text = word.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2").trim();
  if (text === "") return word;
  return SHORT.has(text.toLowerCase()) ? text.toUpperCase() : text[0]!.toUpperCase() + text.slice(1);
}

/** Words that are written large, as they are short for more. */
const SHORT = new Set(["api", "crm", "csv", "http", "json", "mcp", "pdf", "roi", "sql", "url"]);

import { formatCount, formatNumber, humanWord } from "@/lib/format";

/** How a figure is written: `text`, `label`, `integer`, `number`, `percent`, `money` or `list`. */
export type Format = string | undefined;

const money = new Intl.NumberFormat("en", { minimumFractionDigits: 0, maximumFractionDigits: 2 });

/** A value as people read it; a dash for what is not there. */
export function formatValue(value: unknown, format?: Format): string {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map((item) => formatValue(item, format === "list" ? undefined : format)).join(", ");
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "object") return JSON.stringify(value);
  if (format === "label" && typeof value === "string") return humanWord(value);
  if (typeof value !== "number") return String(value);
  switch (format) {
    case "integer":
      return formatCount(value);
    case "percent":
      return `${formatNumber(value)}%`;
    case "money":
      return money.format(value);
    default:
      return formatNumber(value);
  }
}

/** Whether a column of these stands on the right. */
export function isNumeric(format: Format, sample?: unknown): boolean {
  return ["integer", "number", "percent", "money"].includes(format ?? "") || (format === undefined && typeof sample === "number");
}

export type Shown = { field: string; label: string; format?: string };
export type Item = Record<string, unknown>;

const isItem = (value: unknown): value is Item => typeof value === "object" && value !== null && !Array.isArray(value);

/** The rows of a list; none when it is no list of objects. */
export function itemsOf(value: unknown): Item[] | null {
  return Array.isArray(value) && value.every(isItem) ? value : null;
}

/** The fields that a section's config names under `key`. */
export function shownOf(config: unknown, key: string): Shown[] {
  const list = isItem(config) ? config[key] : undefined;
  if (!Array.isArray(list)) return [];
  return list.filter(isItem).filter((entry) => typeof entry.field === "string").map((entry) => ({
    field: entry.field as string,
    label: typeof entry.label === "string" ? entry.label : humanWord(entry.field as string),
    format: typeof entry.format === "string" ? entry.format : undefined,
  }));
}

/** One word of a section's config. */
export function wordOf(config: unknown, key: string): string | undefined {
  const word = isItem(config) ? config[key] : undefined;
  return typeof word === "string" ? word : undefined;
}

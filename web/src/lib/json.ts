/** A value as text that is the same for the same value, whatever the order of its keys. */
export function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      part !== null && typeof part === "object" && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    ) ?? "undefined"
  );
}

/** The object or list that a text is written as, if it is; `exact` when nothing of the text is lost by reading it. */
export function jsonIn(text: string): { value: unknown; exact: boolean } | null {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return null;
  try {
    const value: unknown = JSON.parse(trimmed);
    // Long numbers are rounded, and of two equal keys one is lost.
    return { value, exact: JSON.stringify(value) === trimmed.replace(/("(?:\\.|[^"\\])*")|\s+/g, "$1") };
  } catch {
    return null;
  }
}

/** What someone is about to send: kept across tabs of the page, so that looking something up costs nothing. */
const drafts = new Map<string, unknown>();

export const draftOf = (tool: string): unknown => drafts.get(tool);

export function keepDraft(tool: string, input: unknown): void {
  drafts.set(tool, input);
}

/** An input from a link; none when it is no JSON object. */
export function inputFromLink(text: string | undefined): unknown {
  if (!text) return undefined;
  try {
    const input: unknown = JSON.parse(text);
    return typeof input === "object" && input !== null && !Array.isArray(input) ? input : undefined;
  } catch {
    return undefined;
  }
}

/** What went wrong, ready to be shown. */
export type Problem = { sentence: string; hint: string; code: string; status: number; details?: unknown };

/** An answer of the server that is no success, in its own words. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint?: string,
    readonly details?: unknown,
  ) {
    super(message);
    this.name = "ApiProblem";
  }
}

/** Any error as people read it. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ApiProblem) {
    const { status, code, details } = error;
    return { sentence: sentence(error.message), hint: sentence(error.hint ?? ""), code, status, details };
  }
  // What `fetch` throws when nobody answers says nothing to people.
  const offline = error instanceof TypeError;
  return {
    sentence: offline ? "The server can't be reached." : sentence(error instanceof Error ? error.message : String(error)),
    hint: offline ? "Check your connection; nothing was changed." : "",
    code: "",
    status: 0,
  };
}

/** Messages start small and have no full stop; on a page they stand alone. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const stop = /[.!?…]$/.test(trimmed) ? "" : ".";
  return trimmed[0]!.toUpperCase() + trimmed.slice(1) + stop;
}

import { useState } from "react";

/** An input someone wants to use again. Kept in this browser, for this person and tool. */
export type Saved = { name: string; input: unknown };

const MOST = 50;

function read(key: string): Saved[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one): one is Saved => typeof one?.name === "string") : [];
  } catch {
    return [];
  }
}

/** The inputs saved for a tool, and how to change them. */
export function useSaved(who: string, tool: string) {
  const key = `toolgate.inputs.${who}.${tool}`;
  const [saved, setSaved] = useState<Saved[]>(() => read(key));
  const write = (next: Saved[]) => {
    setSaved(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // A full or closed store: it stays for as long as the page is open.
    }
  };
  return {
    saved,
    save: (name: string, input: unknown) => write([{ name, input }, ...saved.filter((one) => one.name !== name)].slice(0, MOST)),
    forget: (name: string) => write(saved.filter((one) => one.name !== name)),
  };
}

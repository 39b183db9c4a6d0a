import type { ToolSummary } from "./queries";

type Indexed = { tool: ToolSummary; title: string[]; id: string; words: string[] };

const indexes = new WeakMap<readonly ToolSummary[], Indexed[]>();

/**
 * The tools that fit what was typed, best first. Every word must be found: as a part of the id, at the beginning of a
 * word of title, id or description, or, from four letters on, with one or two letters mistyped.
 */
export function searchTools(tools: readonly ToolSummary[], text: string): ToolSummary[] {
  const wanted = wordsOf(text);
  if (wanted.length === 0) return [...tools];
  const index = indexes.get(tools) ?? tools.map(read);
  indexes.set(tools, index);
  const found: { tool: ToolSummary; score: number }[] = [];
  for (const entry of index) {
    let score = 0;
    for (const word of wanted) {
      const points = fit(entry, word);
      if (points === 0) {
        score = 0;
        break;
      }
      score += points;
    }
    if (score > 0) found.push({ tool: entry.tool, score });
  }
  return found.sort((a, b) => b.score - a.score || a.tool.title.localeCompare(b.tool.title, "en")).map((entry) => entry.tool);
}

function read(tool: ToolSummary): Indexed {
  const title = wordsOf(tool.title);
  const words = new Set([...title, ...wordsOf(tool.id), ...wordsOf(tool.category), ...wordsOf(tool.description)]);
  return { tool, title, id: tool.id.toLowerCase(), words: [...words] };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

function fit(entry: Indexed, word: string): number {
  if (entry.title.some((other) => other === word)) return 12;
  if (entry.title.some((other) => other.startsWith(word))) return 9;
  if (entry.id.includes(word)) return 7;
  if (entry.words.some((other) => other.startsWith(word))) return 5;
  const allowed = word.length >= 7 ? 2 : word.length >= 4 ? 1 : 0;
  if (allowed === 0) return 0;
  if (entry.title.some((other) => isNear(word, other, allowed))) return 4;
  return entry.words.some((other) => isNear(word, other, allowed)) ? 2 : 0;
}

/** Whether `word`, or as much of `other` as was typed, differs by at most `allowed` letters: wrong, missing, too many or swapped. */
export function isNear(word: string, other: string, allowed: number): boolean {
  if (word[0] !== other[0] && word[1] !== other[1]) return false;
  if (other.length < word.length - allowed) return false;
  const heads = [other.slice(0, word.length - 1), other.slice(0, word.length), other.slice(0, word.length + 1)];
  return heads.some((head) => distance(word, head, allowed) <= allowed);
}

function distance(a: string, b: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      next.push(best);
    }
    if (Math.min(...next) > most) return most + 1;
    before = row;
    row = next;
  }
  return row[b.length]!;
}

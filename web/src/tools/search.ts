import type { ToolSummary } from "./queries";

type Indexed = { tool: ToolSummary; title: string[]; id: string; words: string[] };
/** How well a word that was typed fits one that is there. */
type Fit = "same" | "head" | "near";
/** All tools read once, and every different word in them. */
type Index = { entries: Indexed[]; vocabulary: Set<string>; fits: Map<string, Map<string, Fit>> };

const byTitle = new Intl.Collator("en");
const indexes = new WeakMap<readonly ToolSummary[], Index>();
const readings = new WeakMap<ToolSummary, Indexed>();
/** Words whose fits are remembered: those of one search and of the letters before it. */
const REMEMBERED = 64;

/**
 * The tools that fit what was typed, best first. Every word must be found: as a part of the id, at the beginning of a
 * word of title, id or description, or, from four letters on, with one or two letters mistyped.
 */
export function searchTools(tools: readonly ToolSummary[], text: string): ToolSummary[] {
  const wanted = wordsOf(text);
  if (wanted.length === 0) return [...tools];
  const index = indexOf(tools);
  const asked = wanted.map((word) => ({ word, fits: fitsOf(index, word) }));
  const found: { tool: ToolSummary; score: number }[] = [];
  for (const entry of index.entries) {
    let score = 0;
    for (const { word, fits } of asked) {
      const points = pointsOf(entry, word, fits);
      if (points === 0) {
        score = 0;
        break;
      }
      score += points;
    }
    if (score > 0) found.push({ tool: entry.tool, score });
  }
  return found.sort((a, b) => b.score - a.score || byTitle.compare(a.tool.title, b.tool.title)).map((entry) => entry.tool);
}

/**
 * Reads tools while the browser has nothing else to do, so that the first letter of a search need not wait for it. The
 * answer stops it.
 */
export function readAhead(tools: readonly ToolSummary[]): () => void {
  let next = 0;
  let timer = setTimeout(step, 0);
  function step() {
    const until = performance.now() + 8;
    while (next < tools.length && performance.now() < until) reading(tools[next++]!);
    if (next < tools.length) timer = setTimeout(step, 0);
    else indexOf(tools);
  }
  return () => clearTimeout(timer);
}

function indexOf(tools: readonly ToolSummary[]): Index {
  const known = indexes.get(tools);
  if (known) return known;
  const entries = tools.map(reading);
  const vocabulary = new Set<string>();
  for (const entry of entries) for (const word of entry.words) vocabulary.add(word);
  const index = { entries, vocabulary, fits: new Map() };
  indexes.set(tools, index);
  return index;
}

function reading(tool: ToolSummary): Indexed {
  const known = readings.get(tool);
  if (known) return known;
  const title = wordsOf(tool.title);
  const words = new Set([...title, ...wordsOf(tool.id), ...wordsOf(tool.category), ...wordsOf(tool.description)]);
  const read = { tool, title, id: tool.id.toLowerCase(), words: [...words] };
  readings.set(tool, read);
  return read;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** The words that are there and fit a typed one. Tools share most of their words: each is compared once, not once a tool. */
function fitsOf(index: Index, word: string): Map<string, Fit> {
  const known = index.fits.get(word);
  if (known) return known;
  const allowed = word.length >= 7 ? 2 : word.length >= 4 ? 1 : 0;
  const fits = new Map<string, Fit>();
  for (const other of index.vocabulary) {
    if (other === word) fits.set(other, "same");
    else if (other.startsWith(word)) fits.set(other, "head");
    else if (allowed > 0 && isNear(word, other, allowed)) fits.set(other, "near");
  }
  if (index.fits.size >= REMEMBERED) index.fits.clear();
  index.fits.set(word, fits);
  return fits;
}

function pointsOf(entry: Indexed, word: string, fits: Map<string, Fit>): number {
  const inTitle = best(entry.title, fits);
  if (inTitle === "same") return 12;
  if (inTitle === "head") return 9;
  if (entry.id.includes(word)) return 7;
  const anywhere = best(entry.words, fits);
  if (anywhere === "same" || anywhere === "head") return 5;
  if (inTitle === "near") return 4;
  return anywhere === "near" ? 2 : 0;
}

function best(words: readonly string[], fits: Map<string, Fit>): Fit | undefined {
  let found: Fit | undefined;
  for (const word of words) {
    const fit = fits.get(word);
    if (fit === "same") return fit;
    if (fit === "head" || found === undefined) found = fit ?? found;
  }
  return found;
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

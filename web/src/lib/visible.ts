// Characters that turn, hide or join what stands around them, and that nobody sees: embedding and override of the
// writing direction, zero-width ones, soft hyphens, tags. Joiners stay: emoji and some scripts are written with them.
const UNSEEN = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF]|[\u{E0000}-\u{E007F}]/gu;

// The flag of a region is a black one with a few tags behind it; people see a flag, so the tags hide nothing.
const REGION = /\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}/gu;

/** A text from outside as it really is: what would not be seen, or would turn the rest around, is named. */
export function visible(text: string): string {
  const flags = text.match(REGION) ?? [];
  return text.split(REGION).reduce((shown, part, at) => shown + (at > 0 ? flags[at - 1] : "") + named(part), "");
}

function named(text: string): string {
  return text.replace(UNSEEN, (char) => `‹U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** The same, cut where it gets too long to read. */
export function clipped(text: string, most: number): string {
  const shown = visible(text.slice(0, most + 1));
  return text.length > most ? `${visible(text.slice(0, most))}… (${text.length.toLocaleString("en")} characters)` : shown;
}

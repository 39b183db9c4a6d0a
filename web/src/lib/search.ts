/** A text in the address; none when it is empty or something else. */
export const textIn = (value: unknown): string | undefined => {
  // `?id=7` arrives as a number.
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? text : undefined;
};

/** A flag in the address. */
export const flagIn = (value: unknown): true | undefined => (value === true ? true : undefined);

/** Which entry stands in the drawer, or that a new one is being written. */
export type DrawerSearch = { id?: string; add?: true };

/** What pages of a list and a drawer keep in the address. */
export const drawerSearch = (search: Record<string, unknown>): DrawerSearch => ({ id: textIn(search.id), add: flagIn(search.add) });

/** The lines of a text that say something. */
export const linesOf = (text: string): string[] => text.split("\n").map((line) => line.trim()).filter(Boolean);

import { createContext } from "react";

/** Where a field stands: inside a row of a list, and whether the row is drawn as one line with labels above the first. */
export type Row = { index: number; title: string; inline: boolean };

export const RowContext = createContext<Row | null>(null);

/** Set around the chosen option of a choice: its own title would repeat what was chosen. */
export const UntitledContext = createContext(false);

/** Tells how an object is drawn: as a row of a list or a part of the form. */
export const ListContext = createContext<{ itemTitle: string; inline: boolean } | null>(null);

/** Takes away a group of fields that was added. */
export const RemoveContext = createContext<(() => void) | null>(null);

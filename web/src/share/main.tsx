/**
 * Makes the page behind a link to a run finer: times in the reader's own zone, and the output drawn as its tool wants it.
 * The page works without this script; what the server draws (crates/toolgate-server/src/auth/share.rs) is read from it.
 */
import { createRoot } from "react-dom/client";

import { contentOf } from "@/output/content";
import { Output, sectionsOf } from "@/output/sections";

import look from "../styles.css?inline";
import { adopt } from "./look";

for (const time of document.querySelectorAll("time")) {
  time.textContent = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(new Date(time.dateTime));
}

const place = document.querySelector<HTMLElement>("[data-output]");
const text = place?.querySelector("pre");
const output = parsed(text?.textContent ?? "");
const sections = sectionsOf(parsed(place?.dataset.sections ?? ""));
// What was cut short, or has nothing to be drawn by, stays as it is.
if (place && text && output !== undefined && (sections.length > 0 || contentOf(output))) {
  const host = document.createElement("div");
  text.before(host);
  text.hidden = true;
  createRoot(adopt(host, look)).render(<Output value={output} sections={sections} />);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

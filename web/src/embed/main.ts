/**
 * Makes the page behind a link finer: answers are sent without leaving it, and an image is commented on by pointing at
 * it. The page works without this script; what the server draws (crates/toolgate-server/src/auth/embed_form.rs) stays.
 */
import { answerOf } from "./answer";
import { Notes } from "./notes";
import { send } from "./send";

const form = document.querySelector<HTMLFormElement>("form[data-input-request]");
if (form) {
  const image = form.querySelector<HTMLElement>("[data-markup]");
  const plain = form.querySelector<HTMLElement>("[data-notes]");
  const notes = image && plain ? new Notes(image, plain) : null;
  for (const time of form.querySelectorAll("time")) {
    time.textContent = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(new Date(time.dateTime));
  }
  form.addEventListener("submit", (event) => {
    // To decline is said by the page itself, without what was filled in.
    if (event.submitter?.getAttribute("name") === "decline") return;
    event.preventDefault();
    void send(form, answerOf(form, notes));
  });
}

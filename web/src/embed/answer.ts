import type { Notes } from "./notes";

/** What the form's fields spell, as the server takes it. Whether it fits is decided there. */
export function answerOf(form: HTMLFormElement, notes: Pick<Notes, "answer"> | null): Record<string, unknown> {
  if (notes) return { notes: notes.answer() };
  const data = new FormData(form);
  if (form.querySelector("[data-choose]")) return { chosen: data.getAll("chosen") };
  if (form.querySelector("[data-approve]")) {
    const said = data.get("approved");
    const more = text(data.get("notes"));
    return { approved: said === "yes" ? true : said === "no" ? false : null, ...(more === "" ? {} : { notes: more }) };
  }
  const answers: Record<string, unknown> = {};
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>('[name^="q-"]')) {
    const id = field.name.slice(2);
    const given = field.value.trim();
    if (field.type === "checkbox") answers[id] = data.getAll(field.name);
    else if (given !== "") answers[id] = valueOf(field, given);
  }
  return answers;
}

/** What was given, as its kind of field has it. */
function valueOf(field: HTMLElement & { type: string }, given: string): unknown {
  if (field.type === "number") return Number(given);
  return "boolean" in field.dataset ? given === "true" : given;
}

const text = (value: FormDataEntryValue | null): string => (typeof value === "string" ? value.trim() : "");

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
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('[name^="q-"]')) {
    const given = field.value.trim();
    if (given !== "") answers[field.name.slice(2)] = field.type === "number" ? Number(given) : given;
  }
  return answers;
}

const text = (value: FormDataEntryValue | null): string => (typeof value === "string" ? value.trim() : "");

type Refusal = { error?: { message?: string; hint?: string } };

/** Sends the answer and says what came of it. What was written stays until it has arrived. */
export async function send(form: HTMLFormElement, answer: unknown): Promise<void> {
  const button = form.querySelector<HTMLButtonElement>('button[type="submit"]');
  // A second click while the first is on its way would only be refused.
  if (button) button.disabled = true;
  try {
    const token = window.location.pathname.split("/").pop() ?? "";
    const response = await fetch(`/api/v1/input-requests/${encodeURIComponent(token)}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ answer }),
      credentials: "omit",
    });
    if (response.ok) return thank();
    const refusal = (await response.json().catch(() => null)) as Refusal | null;
    alert(form, [refusal?.error?.message ?? `the server answered ${response.status}`, refusal?.error?.hint ?? ""]);
  } catch {
    alert(form, ["the server can't be reached", "nothing is lost: try again in a moment"]);
  }
  if (button) button.disabled = false;
}

function thank(): void {
  const main = document.querySelector("main")!;
  const title = document.createElement("h1");
  title.textContent = "Thank you";
  title.tabIndex = -1;
  const words = document.createElement("p");
  words.setAttribute("role", "status");
  words.textContent = "Your answer is on its way. You can close this page.";
  const mark = main.querySelector(".mark");
  main.replaceChildren(...(mark ? [mark] : []), title, words);
  document.title = "Thank you · Toolgate";
  title.focus();
}

function alert(form: HTMLFormElement, sentences: string[]): void {
  document.querySelector('main > [role="alert"]')?.remove();
  const note = document.createElement("p");
  note.setAttribute("role", "alert");
  note.tabIndex = -1;
  note.textContent = sentences.filter(Boolean).map(sentence).join(" ");
  form.before(note);
  note.focus();
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;

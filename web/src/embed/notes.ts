/** A comment on a place of the image, in percent from the left and the top. */
type Note = { x: number; y: number; pin: HTMLButtonElement; field: HTMLTextAreaElement; row: HTMLElement };

/** The server takes so many. */
const MOST = 50;

/**
 * Comments on an image: point at a place and write. By keyboard, "Add a comment" puts one in the middle and the arrow
 * keys move it. Takes the place of the plain page's numbered fields.
 */
export class Notes {
  private readonly notes: Note[] = [];
  private readonly list = document.createElement("div");
  private readonly add = document.createElement("button");

  constructor(
    private readonly image: HTMLElement,
    plain: HTMLElement,
  ) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Point at a place on the image to comment on it. Marks can be dragged, or moved with the arrow keys.";
    image.before(hint);
    image.dataset.ready = "";
    this.add.type = "button";
    this.add.className = "plain";
    this.add.textContent = "Add a comment";
    this.add.addEventListener("click", () => this.put(50, 50));
    const frame = document.createElement("p");
    frame.append(this.add);
    plain.replaceWith(this.list, frame);
    image.querySelector("img")?.addEventListener("click", (event) => {
      const { x, y } = this.place(event);
      this.put(x, y);
    });
  }

  /** What was written, with its places. */
  answer(): { x: number; y: number; text: string }[] {
    return this.notes
      .map(({ x, y, field }) => ({ x, y, text: field.value.trim() }))
      .filter((note) => note.text !== "");
  }

  private put(x: number, y: number): void {
    if (this.notes.length >= MOST) return;
    const note: Note = {
      x,
      y,
      pin: document.createElement("button"),
      field: document.createElement("textarea"),
      row: document.createElement("div"),
    };
    this.notes.push(note);
    this.drawRow(note);
    this.drawPin(note);
    this.refresh();
    note.field.focus();
  }

  private drawRow(note: Note): void {
    const { row, field } = note;
    row.className = "note";
    const number = document.createElement("span");
    number.className = "number";
    number.setAttribute("aria-hidden", "true");
    const label = document.createElement("label");
    const words = document.createElement("span");
    field.maxLength = 10_000;
    label.append(words, field);
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "plain";
    remove.textContent = "Remove";
    remove.addEventListener("click", () => {
      this.notes.splice(this.notes.indexOf(note), 1);
      note.pin.remove();
      row.remove();
      this.refresh();
      this.add.focus();
    });
    row.append(number, label, remove);
    this.list.append(row);
  }

  private drawPin(note: Note): void {
    const { pin } = note;
    pin.type = "button";
    pin.className = "pin";
    pin.addEventListener("click", () => note.field.focus());
    pin.addEventListener("pointerdown", (event) => {
      pin.setPointerCapture(event.pointerId);
      const move = (moved: PointerEvent) => this.move(note, this.place(moved));
      pin.addEventListener("pointermove", move);
      pin.addEventListener("pointerup", () => pin.removeEventListener("pointermove", move), { once: true });
    });
    pin.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      this.move(note, { x: note.x + step[0]!, y: note.y + step[1]! });
    });
    this.image.append(pin);
  }

  private move(note: Note, to: { x: number; y: number }): void {
    note.x = within(to.x);
    note.y = within(to.y);
    this.refresh();
  }

  private place(event: MouseEvent): { x: number; y: number } {
    const frame = this.image.getBoundingClientRect();
    return {
      x: within(((event.clientX - frame.left) / frame.width) * 100),
      y: within(((event.clientY - frame.top) / frame.height) * 100),
    };
  }

  private refresh(): void {
    for (const [at, { pin, row, x, y }] of this.notes.entries()) {
      const number = String(at + 1);
      pin.textContent = number;
      pin.setAttribute("aria-label", `Comment ${number}, ${x}% from the left, ${y}% from the top`);
      pin.style.left = `${x}%`;
      pin.style.top = `${y}%`;
      row.querySelector(".number")!.textContent = number;
      row.querySelector("label > span")!.textContent = `Comment ${number}`;
      row.querySelector("button")!.setAttribute("aria-label", `Remove comment ${number}`);
    }
    this.add.disabled = this.notes.length >= MOST;
  }
}

const within = (percent: number): number => Math.round(Math.min(100, Math.max(0, percent)) * 10) / 10;

import { visible } from "@/lib/visible";

/** A sentence of the server: what stands between backticks is a name or a command, and looks like one. */
export function Said({ text }: { text: string }) {
  return visible(text)
    .split(/`([^`]+)`/)
    .map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        <code key={index} className="break-all font-mono text-[0.92em]">
          {part}
        </code>
      ),
    );
}

import { useEffect, useRef, useState } from "react";

import { asProblem } from "@/api/error";
import { queryClient } from "@/api/queries";

import { fileQuery } from "./queries";
import { formatSize } from "./size";
import { uploadFile } from "./upload";

/** A file on its way, or one that did not arrive. */
export type Upload = { key: number; name: string; size: number; share: number; wrong?: string; again?: () => void };

type Held = Upload & { stop: AbortController };

/** Sends files at once. `onKept` gets the id of each that arrived. Whoever leaves the page stops what is on its way. */
export function useUploads(largest: number | undefined, accept: readonly string[], onKept: (id: string, name: string) => void) {
  const [held, setHeld] = useState<Held[]>([]);
  const next = useRef(0);
  const kept = useRef(onKept);
  kept.current = onKept;
  const all = useRef(held);
  all.current = held;
  useEffect(() => () => all.current.forEach((upload) => upload.stop.abort()), []);
  const change = (key: number, part: Partial<Held>) =>
    setHeld((before) => before.map((upload) => (upload.key === key ? { ...upload, ...part } : upload)));
  const drop = (key: number) => setHeld((before) => before.filter((upload) => upload.key !== key));
  const begin = (file: File) => {
    const key = (next.current += 1);
    const stop = new AbortController();
    const upload: Held = { key, name: file.name, size: file.size, share: 0, stop };
    if (largest !== undefined && file.size > largest) {
      upload.wrong = `It is larger than ${formatSize(largest)}, the most a file may have.`;
      return setHeld((before) => [...before, upload]);
    }
    setHeld((before) => [...before, upload]);
    uploadFile(file, accept, (share) => change(key, { share }), stop.signal)
      .then((arrived) => {
        queryClient.setQueryData(fileQuery(arrived.id).queryKey, arrived);
        drop(key);
        kept.current(arrived.id, arrived.name);
      })
      .catch((error: unknown) => {
        if (stop.signal.aborted) return drop(key);
        const problem = asProblem(error);
        const again = () => {
          drop(key);
          begin(file);
        };
        change(key, { wrong: `${problem.sentence} ${problem.hint}`.trim(), again: problem.status === 413 || problem.status === 415 ? undefined : again });
      });
  };
  const cancel = (key: number) => {
    all.current.find((upload) => upload.key === key)?.stop.abort();
    drop(key);
  };
  return { uploads: held as readonly Upload[], begin, cancel };
}

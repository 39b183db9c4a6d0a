import { useQuery } from "@tanstack/react-query";
import { Download, FileText } from "lucide-react";

import { TitledCard } from "@/components/ui/card";
import { clipped } from "@/lib/visible";

import { contentIn, fileIdsIn, runFilesQuery } from "./queries";
import { formatSize } from "./size";

/** The files that a part of a run names, to be read by whoever may read the run. Nothing when it names none. */
export function FileLinks({ run, value, label, card }: {
  run: string;
  value: unknown;
  label: string;
  /** In a card of its own, where it stands among others. */
  card?: boolean;
}) {
  const ids = fileIdsIn(value);
  const files = useQuery({ ...runFilesQuery(run), enabled: ids.length > 0 });
  const named = files.data?.filter((file) => ids.includes(file.id)) ?? [];
  if (named.length === 0) return null;
  const list = (
    <ul aria-label={label} className={card ? "grid grid-cols-1 gap-1" : "mt-2 grid grid-cols-1 gap-1"}>
      {named.map((file) => (
        <li key={file.id} className="flex min-w-0 items-center gap-2 text-sm">
          <FileText aria-hidden className="size-4 shrink-0 text-ink-3" />
          <a
            href={contentIn(run, file.id)}
            download
            title={file.id}
            className="flex min-h-6 min-w-0 items-center gap-1.5 rounded-sm text-accent-ink hover:underline"
          >
            <span className="truncate">{clipped(file.name, 80)}</span>
            <Download aria-hidden className="size-3.5 shrink-0" />
          </a>
          <span className="shrink-0 text-xs text-ink-3">{formatSize(file.size)}</span>
        </li>
      ))}
    </ul>
  );
  return card ? <TitledCard title="Files" className="mt-4">{list}</TitledCard> : list;
}

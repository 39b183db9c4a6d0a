import { useQuery } from "@tanstack/react-query";
import { FileText, FileX2, LoaderCircle, RotateCw, X } from "lucide-react";
import type { ReactNode } from "react";

import { queryClient } from "@/api/queries";
import { Button } from "@/components/ui/button";
import { Said } from "@/components/ui/said";
import { clipped } from "@/lib/visible";

import { contentOf, fileQuery } from "./queries";
import { formatSize } from "./size";
import type { Upload } from "./uploads";

const LONGEST = 80;

/** A file that a field holds, by its id. */
export function KeptFile({ id, file, onRemove }: { id: string; file: string; onRemove?: () => void }) {
  const found = useQuery(fileQuery(file), queryClient);
  const name = clipped(found.data?.name ?? file, LONGEST);
  return (
    <Row
      icon={found.isError ? <FileX2 aria-hidden className="text-danger-ink" /> : <FileText aria-hidden />}
      name={
        found.data ? (
          <a href={contentOf(file)} download className="truncate rounded-sm text-accent-ink hover:underline">
            {name}
          </a>
        ) : (
          <span className="truncate font-mono text-xs">{name}</span>
        )
      }
      size={found.data ? formatSize(found.data.size) : ""}
      note={found.isError ? <span className="text-danger-ink">It is not there any more, or not yours to use.</span> : null}
      buttons={
        onRemove ? (
          <IconButton id={id} label={`Remove ${name}`} onClick={onRemove}>
            <X aria-hidden />
          </IconButton>
        ) : null
      }
    />
  );
}

/** A file on its way, or one that did not arrive. */
export function UploadRow({ upload, onCancel }: { upload: Upload; onCancel: () => void }) {
  const name = clipped(upload.name, LONGEST);
  const { wrong, again } = upload;
  const percent = Math.round(upload.share * 100);
  return (
    <Row
      icon={wrong ? <FileX2 aria-hidden className="text-danger-ink" /> : <LoaderCircle aria-hidden className="animate-spin" />}
      name={<span className="truncate">{name}</span>}
      size={formatSize(upload.size)}
      note={
        wrong ? (
          <span role="alert" className="text-danger-ink">
            <Said text={wrong} />
          </span>
        ) : (
          <div
            role="progressbar"
            aria-label={`Uploading ${name}`}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={percent}
            className="mt-1 h-1 overflow-hidden rounded-full bg-hover"
          >
            <div className="h-full rounded-full bg-info transition-[width] duration-200" style={{ width: `${percent}%` }} />
          </div>
        )
      }
      buttons={
        <>
          {again ? (
            <IconButton label={`Try ${name} again`} onClick={again}>
              <RotateCw aria-hidden />
            </IconButton>
          ) : null}
          <IconButton label={wrong ? `Remove ${name}` : `Cancel ${name}`} onClick={onCancel}>
            <X aria-hidden />
          </IconButton>
        </>
      }
    />
  );
}

function Row({ icon, name, size, note, buttons }: { icon: ReactNode; name: ReactNode; size: string; note: ReactNode; buttons: ReactNode }) {
  return (
    <li className="flex items-start gap-2 rounded-lg border border-line bg-sunken py-1.5 pl-3 pr-1.5 text-sm">
      <span className="mt-1 shrink-0 text-ink-3 [&_svg]:size-4">{icon}</span>
      <div className="min-w-0 flex-1 py-0.5">
        <div className="flex min-w-0 items-baseline gap-2">
          {name}
          <span className="shrink-0 text-xs text-ink-3">{size}</span>
        </div>
        {note ? <div className="text-xs">{note}</div> : null}
      </div>
      <span className="flex shrink-0">{buttons}</span>
    </li>
  );
}

function IconButton({ id, label, onClick, children }: { id?: string; label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Button id={id} look="quiet" className="size-7 px-0 text-ink-3 [&_svg]:size-3.5" aria-label={label} title={label} onClick={onClick}>
      {children}
    </Button>
  );
}

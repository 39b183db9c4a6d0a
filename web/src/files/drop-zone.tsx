import { useQuery } from "@tanstack/react-query";
import { Upload as UploadIcon } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";

import { queryClient } from "@/api/queries";
import { cn } from "@/lib/cn";
import { clipped } from "@/lib/visible";

import { KeptFile, UploadRow } from "./file-row";
import { largestFileQuery } from "./queries";
import { formatSize } from "./size";
import { useUploads } from "./uploads";

type Aria = { "aria-invalid"?: boolean; "aria-describedby"?: string; "aria-required"?: boolean };

/** Takes files that are dropped or chosen, sends each at once, and holds their ids. */
export function DropZone({ id, label, value, onChange, accept, several, most, disabled, readOnly, ...aria }: {
  id: string;
  label: string;
  value: readonly string[];
  onChange: (ids: string[]) => void;
  /** Media types and endings that are meant, as `accept` of a file field has them. */
  accept: readonly string[];
  several?: boolean;
  /** How many at most. */
  most?: number;
  disabled?: boolean;
  readOnly?: boolean;
} & Aria) {
  const largest = useQuery({ ...largestFileQuery, enabled: !disabled && !readOnly }, queryClient).data;
  const [over, setOver] = useState(false);
  const [said, setSaid] = useState("");
  const input = useRef<HTMLInputElement>(null);
  // Several may arrive before the form has drawn the first.
  const held = useRef(value);
  held.current = value;
  const hold = (ids: string[]) => {
    held.current = ids;
    onChange(ids);
  };
  const { uploads, begin, cancel } = useUploads(largest, accept, (file, name) => {
    hold(several ? [...held.current, file] : [file]);
    setSaid(`${clipped(name, 80)} is uploaded.`);
  });
  const fixed = disabled || readOnly;
  const full = several ? most !== undefined && value.length + uploads.length >= most : false;
  const take = (files: readonly File[]) => {
    const room = several ? (most === undefined ? files.length : Math.max(0, most - value.length - uploads.length)) : 1;
    // One takes the place of one.
    if (!several) uploads.forEach((upload) => cancel(upload.key));
    files.slice(0, room).forEach(begin);
  };
  const leave = (file: string) => {
    hold(held.current.filter((other) => other !== file));
    setSaid("Taken out.");
    input.current?.focus();
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (!fixed && !full) take([...event.dataTransfer.files]);
  };
  const { "aria-required": _, ...described } = aria;
  return (
    // A long name is cut; it never makes the form wider.
    <div className="grid grid-cols-1">
      {fixed ? null : (
        <div
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={onDrop}
          className={cn(
            "relative flex min-h-20 flex-col items-center justify-center gap-1 rounded-lg border border-dashed border-line-strong bg-surface px-4 py-3 text-center text-sm transition-colors",
            "hover:border-ink-3 has-focus-visible:outline-2 has-focus-visible:outline-accent has-aria-invalid:border-danger",
            over && "border-accent bg-accent-soft",
            full && "bg-sunken",
          )}
        >
          <UploadIcon aria-hidden className="size-4 text-ink-3" />
          <span aria-hidden className="text-ink-2">
            {full ? "No more fit in" : several ? "Drop files here, or choose them" : value.length > 0 ? "Drop another, or choose one" : "Drop a file here, or choose one"}
          </span>
          <span aria-hidden className="text-xs text-ink-3">
            {[accept.length > 0 ? accept.join(", ") : "", largest === undefined ? "" : `up to ${formatSize(largest)}`].filter(Boolean).join(" · ")}
          </span>
          <input
            ref={input}
            id={id}
            type="file"
            className="absolute inset-0 cursor-pointer opacity-0 disabled:cursor-not-allowed"
            accept={accept.join(",") || undefined}
            multiple={several}
            disabled={full}
            onChange={(event) => {
              take([...(event.target.files ?? [])]);
              // The same file may be chosen once more.
              event.target.value = "";
            }}
            {...described}
          />
        </div>
      )}
      {value.length + uploads.length > 0 ? (
        <ul aria-label={`Files for ${label}`} className={cn("space-y-1.5", !fixed && "mt-2")}>
          {value.map((file, index) => (
            <KeptFile key={`${index} ${file}`} id={`${id}_${index}`} file={file} onRemove={fixed ? undefined : () => leave(file)} />
          ))}
          {uploads.map((upload) => (
            <UploadRow key={upload.key} upload={upload} onCancel={() => cancel(upload.key)} />
          ))}
        </ul>
      ) : fixed ? (
        <p id={id} tabIndex={-1} className="text-sm text-ink-3">
          No file
        </p>
      ) : null}
      <p role="status" className="sr-only">
        {said}
      </p>
    </div>
  );
}

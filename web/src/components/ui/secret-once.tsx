import { TriangleAlert } from "lucide-react";

import { CopyButton } from "./copyable";

/** Something that is shown now and never again. */
export function SecretOnce({ secret, label, children }: { secret: string; label: string; children: string }) {
  return (
    <section aria-label={label} className="space-y-3 rounded-xl border border-line bg-warn-soft p-4 text-warn-ink">
      <p className="flex gap-2 text-sm">
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span>{children}</span>
      </p>
      <div className="flex items-center gap-2 rounded-lg border border-line bg-surface py-1 pl-3 pr-1">
        <code className="min-w-0 flex-1 select-all break-all font-mono text-xs text-ink">
          {secret}
        </code>
        <CopyButton text={secret} label={`Copy ${label.toLowerCase()}`} />
      </div>
    </section>
  );
}

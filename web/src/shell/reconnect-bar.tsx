import { CloudOff } from "lucide-react";

import { useReconnecting } from "@/api/live";

/** Says that what is shown may be old. */
export function ReconnectBar() {
  const reconnecting = useReconnecting();
  return (
    <div role="status">
      {reconnecting ? (
        <p className="flex items-center justify-center gap-2 bg-warn-soft px-4 py-1.5 text-xs font-medium text-warn-ink">
          <CloudOff aria-hidden className="size-3.5" />
          Reconnecting. What you see may be out of date.
        </p>
      ) : null}
    </div>
  );
}

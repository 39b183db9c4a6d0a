import { useMutation } from "@tanstack/react-query";
import { ShieldAlert, ShieldCheck } from "lucide-react";

import { api, unwrap } from "@/api/client";
import { sentence } from "@/api/error";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ErrorNote } from "@/components/ui/states";
import { counted } from "@/lib/format";
import { visible } from "@/lib/visible";

/** Checks every chain and says what came of it. */
export function Verify() {
  const verify = useMutation({ mutationFn: () => unwrap(api.POST("/api/v1/audit/verify")) });
  const report = verify.data;
  const broken = report?.first_broken;
  return (
    <Card className="mb-6 flex flex-wrap items-center gap-4 px-5 py-4">
      <div role="status" className="min-w-60 flex-1 text-sm">
        {verify.isError ? (
          <ErrorNote error={verify.error} />
        ) : report?.ok ? (
          <p className="flex gap-2 text-ok-ink">
            <ShieldCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span>
              The record is as it was written: {counted(report.events, "event")} in {counted(report.sessions, "session")}, {counted(report.anchors, "anchor")} and{" "}
              {counted(report.invocations, "call")} checked.
            </span>
          </p>
        ) : broken ? (
          <p className="flex gap-2 text-danger-ink">
            <ShieldAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span className="min-w-0 break-words">
              The record was changed. {sentence(visible(broken.what))}{" "}
              <span className="font-mono text-xs">
                {[broken.session_id, `event ${broken.seq}`, broken.call_id].filter(Boolean).join(" · ")}
              </span>
            </span>
          </p>
        ) : (
          <p className="text-ink-2">Whether the record is as it was written: every chain, every anchor, and every call against its events.</p>
        )}
      </div>
      <Button disabled={verify.isPending} onClick={() => verify.mutate()}>
        <ShieldCheck aria-hidden />
        {verify.isPending ? "Checking…" : report ? "Verify again" : "Verify the chain"}
      </Button>
    </Card>
  );
}

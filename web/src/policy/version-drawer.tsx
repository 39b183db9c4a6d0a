import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { CopyButton } from "@/components/ui/copyable";
import { Drawer, DrawerSection } from "@/components/ui/drawer";
import { RelativeTime } from "@/components/ui/relative-time";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { principalName } from "@/lib/format";
import { visible } from "@/lib/visible";
import { DiffText } from "@/upstreams/words";

import { policyDiffQuery, policyQuery, policyVersionQuery } from "./queries";

/** One version: what it changed, how it differs from now, and the way back to it. */
export function VersionDrawer({ version, onClose }: { version: number; onClose: () => void }) {
  const client = useQueryClient();
  const shown = useQuery(policyVersionQuery(version));
  const now = useQuery(policyQuery);
  const current = now.data?.version;
  const back = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/policy/rollback", { body: { version } })),
    onSuccess: (saved) => {
      toast(`Version ${version} is in force again, as version ${saved.version}.`);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["policy"] }),
  });
  return (
    <Drawer
      open
      wide
      onClose={onClose}
      title={`Version ${version}`}
      description={
        shown.data ? (
          <>
            {principalName(shown.data.saved_by).name} <RelativeTime at={shown.data.saved_at} />
            {shown.data.note ? `: ${visible(shown.data.note)}` : ""}
          </>
        ) : undefined
      }
      footer={
        current !== undefined && current !== version ? (
          <>
            <p className="min-w-0 flex-1 text-xs text-ink-3">Going back saves this text again, as a new version.</p>
            <ConfirmButton title="Go back to it…" sure={`Yes, in place of version ${current}`} disabled={back.isPending} onSure={() => back.mutate()} />
          </>
        ) : undefined
      }
    >
      {back.isError ? <ErrorNote error={back.error} /> : null}
      {shown.isPending ? (
        <Loading label="Loading the version">
          <Skeleton className="h-60 rounded-xl" />
        </Loading>
      ) : shown.isError ? (
        <ErrorState error={shown.error} what="The version could not be loaded" onRetry={() => void shown.refetch()} />
      ) : (
        <>
          {version > 0 ? <Difference title="What it changed" from={version - 1} to={version} same="It says what the version before it said." /> : null}
          {current !== undefined && current !== version ? (
            <Difference title="What going back would change" from={current} to={version} same="It says what is in force now." />
          ) : null}
          <DrawerSection title="Its text" aside={<CopyButton text={shown.data.text ?? ""} label="Copy the text" />}>
            <pre tabIndex={0} role="region" aria-label="Text of the version" className="max-h-[420px] overflow-auto whitespace-pre-wrap break-words rounded-lg border border-line bg-sunken p-3 font-mono text-xs leading-[18px]">
              {visible(shown.data.text ?? "")}
            </pre>
          </DrawerSection>
        </>
      )}
    </Drawer>
  );
}

function Difference({ title, from, to, same }: { title: string; from: number; to: number; same: string }) {
  const diff = useQuery(policyDiffQuery(from, to));
  return (
    <DrawerSection title={title} aside={`Version ${from} to ${to}`}>
      {diff.isPending ? (
        <Loading label="Comparing">
          <Skeleton className="h-24" />
        </Loading>
      ) : diff.isError ? (
        <ErrorNote error={diff.error} />
      ) : diff.data === "" ? (
        <p className="text-sm text-ink-2">{same}</p>
      ) : (
        <DiffText text={visible(diff.data)} label={title} />
      )}
    </DrawerSection>
  );
}

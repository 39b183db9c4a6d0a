import { useQuery } from "@tanstack/react-query";
import { Share2 } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";

import { Button } from "@/components/ui/button";
import { SecretOnce } from "@/components/ui/secret-once";
import { RelativeTime } from "@/components/ui/relative-time";
import { Select } from "@/components/ui/select";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorNote } from "@/components/ui/states";
import { principalName } from "@/lib/format";

import { type Share, sharesQuery, useShare, useUnshare } from "./queries";

const DAY = 86_400;
const spans = [
  { seconds: 3600, title: "an hour" },
  { seconds: DAY, title: "a day" },
  { seconds: 7 * DAY, title: "a week" },
  { seconds: 30 * DAY, title: "30 days" },
];

/** Shows a run to anyone by a link, and takes such links back. */
export function ShareButton({ run }: { run: string }) {
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button look="quiet">
          <Share2 aria-hidden />
          Share
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          side="top"
          align="start"
          sideOffset={8}
          collisionPadding={12}
          aria-label="Share this run"
          className="z-50 max-h-[var(--radix-popover-content-available-height)] w-[380px] max-w-[calc(100vw-24px)] overflow-y-auto rounded-xl border border-line bg-surface p-4 shadow-pop outline-none"
        >
          <Sharing run={run} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Sharing({ run }: { run: string }) {
  const [seconds, setSeconds] = useState(7 * DAY);
  const share = useShare(run);
  return (
    <div className="space-y-4">
      <div>
        <h2 className="text-sm font-semibold">Read-only link</h2>
        <p className="mt-1 text-xs text-ink-3">
          Anyone with the link sees the tool, the input, the output and who ran it, without signing in. Nothing else of the session.
        </p>
      </div>
      <div className="flex items-end gap-2">
        <div className="flex-1">
          <label htmlFor="share-span" className="text-xs text-ink-3">
            Works for
          </label>
          <Select id="share-span" value={String(seconds)} onChange={(event) => setSeconds(Number(event.target.value))}>
            {spans.map((span) => (
              <option key={span.seconds} value={span.seconds}>
                {span.title}
              </option>
            ))}
          </Select>
        </div>
        <Button look="primary" disabled={share.isPending} onClick={() => share.mutate(seconds)}>
          {share.isPending ? "Making it…" : "Make a link"}
        </Button>
      </div>
      {share.isError ? <ErrorNote error={share.error} /> : null}
      {share.data ? (
        <SecretOnce secret={share.data.url} label="The link">
          Copy it now: it is shown this once.
        </SecretOnce>
      ) : null}
      <Links run={run} />
    </div>
  );
}

function Links({ run }: { run: string }) {
  const shares = useQuery({ ...sharesQuery(run), retry: false });
  const unshare = useUnshare(run);
  if (shares.isPending) {
    return (
      <Loading label="Loading the links">
        <Skeleton className="h-8" />
      </Loading>
    );
  }
  if (shares.isError) return <ErrorNote error={shares.error} />;
  if (shares.data.length === 0) return <p className="text-xs text-ink-3">No link to this run works.</p>;
  return (
    <section aria-label="Links that work" className="border-t border-line pt-3">
      {unshare.isError ? <ErrorNote error={unshare.error} className="mb-2" /> : null}
      <ul className="space-y-1">
        {shares.data.map((share) => (
          <Row key={share.id} share={share} disabled={unshare.isPending} onRevoke={() => unshare.mutate(share.id)} />
        ))}
      </ul>
    </section>
  );
}

function Row({ share, disabled, onRevoke }: { share: Share; disabled: boolean; onRevoke: () => void }) {
  return (
    <li className="flex items-center gap-2 text-xs">
      <span className="min-w-0 flex-1 truncate">
        {principalName(share.by).name} · made <RelativeTime at={share.created_at} /> · ends <RelativeTime at={share.expires_at} />
      </span>
      <Button look="danger" size="sm" disabled={disabled} aria-label={`Revoke the link made by ${principalName(share.by).name}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  );
}

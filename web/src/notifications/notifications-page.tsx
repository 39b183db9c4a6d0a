import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { BellRing, CircleCheck, CircleX, Hourglass, Send } from "lucide-react";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { TextField } from "@/components/ui/fields";
import { Listing } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { Segmented } from "@/components/ui/segmented";
import { EmptyState, ErrorNote } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { toast } from "@/components/ui/toast";
import { clipped } from "@/lib/visible";

import { eventWords, type Notification, notificationsQuery } from "./queries";
import type { NotificationsSearch } from "./routes";

const route = getRouteApi("/shell/notifications");

function StateBadge({ state }: { state: string }) {
  if (state === "delivered") return <Badge tone="ok" icon={CircleCheck}>Delivered</Badge>;
  if (state === "dead") return <Badge tone="danger" icon={CircleX}>Given up</Badge>;
  return <Badge tone="accent" icon={Hourglass}>On its way</Badge>;
}

/** What was told outside, and whether it arrived. */
export function NotificationsPage() {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const list = useInfiniteQuery(notificationsQuery(state));
  const settled = () => client.invalidateQueries({ queryKey: ["notifications"] });
  const retry = useMutation({
    mutationFn: (id: string) => unwrap(api.POST("/api/v1/notifications/{id}/retry", { params: { path: { id } } })),
    onSuccess: () => toast("It is sent once more."),
    onSettled: settled,
  });
  const columns: Column<Notification>[] = [
    {
      key: "what",
      title: "What it tells",
      cell: (one) =>
        one.call_id ? (
          <Link to="." search={(before: Record<string, unknown>) => ({ ...before, run: one.call_id }) as never} className="text-ink hover:underline">
            {eventWords[one.event] ?? one.event}
          </Link>
        ) : (
          (eventWords[one.event] ?? one.event)
        ),
    },
    { key: "where", title: "Where", cell: (one) => <code className="font-mono text-xs">{one.channel}</code> },
    {
      key: "state",
      title: "State",
      cell: (one) => (
        <>
          <StateBadge state={one.state} />
          {one.last_error ? <span className="mt-0.5 line-clamp-2 block max-w-[40ch] text-xs text-ink-3">{clipped(one.last_error, 200)}</span> : null}
        </>
      ),
    },
    { key: "tries", title: "Tries", numeric: true, cell: (one) => one.attempts },
    { key: "at", title: "Arose", cell: (one) => <RelativeTime at={one.created_at} className="whitespace-nowrap" /> },
    {
      key: "again",
      title: <span className="sr-only">Send again</span>,
      className: "relative text-right",
      cell: (one) =>
        one.state === "dead" ? (
          <Button size="sm" disabled={retry.isPending} onClick={() => retry.mutate(one.id)}>
            Send again
          </Button>
        ) : null,
    },
  ];
  return (
    <>
      <PageHeader
        title="Notifications"
        description="What the gate told other services: that a call waits, was decided on, or is in doubt. The operator names the channels in the configuration."
      />
      <div className="mb-4">
        <Segmented
          name="notifications-state"
          label="Which"
          value={state ?? "all"}
          onChange={(next) => void navigate({ search: { state: next === "all" ? undefined : (next as NotificationsSearch["state"]) }, replace: true })}
          options={[
            { value: "all", title: "All" },
            { value: "waiting", title: "On their way" },
            { value: "delivered", title: "Delivered" },
            { value: "dead", title: "Given up" },
          ]}
        />
      </div>
      {retry.isError ? <ErrorNote error={retry.error} className="mb-4" /> : null}
      <Listing
        label="Notifications"
        what="the notifications"
        list={list}
        rows={list.data?.pages.flatMap((page) => page.notifications) ?? []}
        columns={columns}
        rowKey={(one) => one.id}
        empty={
          <EmptyState icon={BellRing} title="Nothing was told">
            When a channel is configured and a call waits for a person, what was sent stands here.
          </EmptyState>
        }
      />
      <TestChannel onSettled={settled} />
    </>
  );
}

function TestChannel({ onSettled }: { onSettled: () => void }) {
  const [name, setName] = useState("");
  const test = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/notifications/channels/{name}/test", { params: { path: { name: name.trim() } } })),
    onSettled,
  });
  return (
    <Card className="mt-6 max-w-[560px] space-y-3 p-5">
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          test.mutate();
        }}
      >
        <div className="min-w-0 flex-1">
          <TextField label="Send a test to a channel" hint="Its name in the configuration." mono value={name} onChange={setName} />
        </div>
        <Button type="submit" disabled={name.trim() === "" || test.isPending}>
          <Send aria-hidden />
          Send
        </Button>
      </form>
      {test.isError ? <ErrorNote error={test.error} /> : null}
      {test.data ? (
        <p role="status" className="flex flex-wrap items-center gap-2 text-sm">
          <StateBadge state={test.data.state} />
          {test.data.last_error ? clipped(test.data.last_error, 200) : null}
        </p>
      ) : null}
    </Card>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Building2, Search } from "lucide-react";
import { Dialog, VisuallyHidden } from "radix-ui";
import { useState } from "react";

import { meQuery } from "@/api/queries";
import { shortId } from "@/components/ui/copyable";
import { StatusBadge } from "@/components/ui/state-badges";
import { recentRunsQuery } from "@/runs/queries";
import { ownTenantsQuery } from "@/tenants/queries";
import { useSwitchTenant } from "@/tenants/switch-tenant";
import { toolsQuery } from "@/tools/queries";
import { searchTools } from "@/tools/search";
import { clipped } from "@/lib/visible";

import { mayOpen, pages } from "./pages";

const itemLook =
  "flex min-h-9 cursor-pointer items-center gap-3 rounded-lg px-3 py-1.5 text-sm text-ink-2 data-[selected=true]:bg-hover data-[selected=true]:text-ink";
const MOST = 8;

/** Jumps to a tool, a run or a page. */
export function Palette({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 bg-shade data-[state=open]:animate-in data-[state=open]:fade-in duration-150" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed left-1/2 top-[12vh] z-50 w-[calc(100vw-32px)] max-w-[600px] -translate-x-1/2 overflow-hidden rounded-2xl border border-line bg-surface shadow-pop"
        >
          <VisuallyHidden.Root>
            <Dialog.Title>Jump to</Dialog.Title>
          </VisuallyHidden.Root>
          <Jump close={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Jump({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const navigate = useNavigate();
  const me = useQuery(meQuery);
  const tools = useQuery(toolsQuery);
  const runs = useQuery(recentRunsQuery);
  const tenants = useQuery(ownTenantsQuery);
  const change = useSwitchTenant();
  const wanted = text.trim().toLowerCase();
  const found = searchTools(tools.data ?? [], wanted).slice(0, MOST);
  const foundPages = pages.filter(
    (page) => mayOpen(page, me.data) && page.title.toLowerCase().includes(wanted),
  );
  const foundRuns = (runs.data ?? [])
    .filter((run) => wanted === "" || run.id.includes(wanted) || run.tool_id.includes(wanted))
    .slice(0, wanted === "" ? 4 : MOST);
  // A whole id leads to its run even when it is not among the latest.
  const id = /^inv_[0-9a-f]{32}$/.test(wanted) && !foundRuns.some((run) => run.id === wanted) ? wanted : null;
  const foundTenants = (tenants.data ?? []).filter(
    (own) => own.access === "switch" && `switch to ${own.title} ${own.id}`.toLowerCase().includes(wanted),
  );
  const openRun = (run: string) => {
    close();
    void navigate({ to: ".", search: (before: Record<string, unknown>) => ({ ...before, run }) } as never);
  };
  return (
    <Command shouldFilter={false} label="Jump to a tool, run or page" loop>
      <div className="flex items-center gap-3 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
        <Command.Input
          value={text}
          onValueChange={setText}
          autoFocus
          placeholder="Jump to a tool, run or page"
          className="h-12 w-full bg-transparent text-base outline-none"
        />
      </div>
      <Command.List className="max-h-[min(420px,60vh)] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-3">
        <Command.Empty className="px-3 py-8 text-center text-sm text-ink-3">Nothing is called that.</Command.Empty>
        {found.length > 0 ? (
          <Command.Group heading="Tools">
            {found.map((tool) => (
              <Command.Item
                key={tool.id}
                value={`tool ${tool.id}`}
                className={itemLook}
                onSelect={() => {
                  close();
                  void navigate({ to: "/tools/$id", params: { id: tool.id } });
                }}
              >
                <span className="truncate">{tool.title}</span>
                <span className="ml-auto truncate font-mono text-xs text-ink-3">{tool.id}</span>
              </Command.Item>
            ))}
          </Command.Group>
        ) : null}
        {foundPages.length > 0 ? (
          <Command.Group heading="Pages">
            {foundPages.map((page) => (
              <Command.Item
                key={page.to}
                value={`page ${page.to}`}
                className={itemLook}
                onSelect={() => {
                  close();
                  void navigate({ to: page.to });
                }}
              >
                <page.icon aria-hidden className="size-4 text-ink-3" />
                {page.title}
              </Command.Item>
            ))}
          </Command.Group>
        ) : null}
        {foundTenants.length > 0 ? (
          <Command.Group heading="Organisations">
            {foundTenants.map((own) => (
              <Command.Item key={own.id} value={`tenant ${own.id}`} className={itemLook} onSelect={() => change.mutate(own.id)}>
                <Building2 aria-hidden className="size-4 text-ink-3" />
                Switch to {clipped(own.title, 60)}
                <span className="ml-auto truncate font-mono text-xs text-ink-3">{own.id}</span>
              </Command.Item>
            ))}
          </Command.Group>
        ) : null}
        {foundRuns.length > 0 || id ? (
          <Command.Group heading="Runs">
            {id ? (
              <Command.Item value={`run ${id}`} className={itemLook} onSelect={() => openRun(id)}>
                Open the run {shortId(id)}
              </Command.Item>
            ) : null}
            {foundRuns.map((run) => (
              <Command.Item key={run.id} value={`run ${run.id}`} className={itemLook} onSelect={() => openRun(run.id)}>
                <StatusBadge status={run.status} />
                <span className="truncate font-mono text-xs">{run.tool_id}</span>
                <span className="ml-auto font-mono text-xs text-ink-3">{shortId(run.id)}</span>
              </Command.Item>
            ))}
          </Command.Group>
        ) : null}
      </Command.List>
    </Command>
  );
}

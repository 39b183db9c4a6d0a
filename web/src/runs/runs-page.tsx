import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { statusWords } from "@/components/ui/state-badges";
import { toolsQuery } from "@/tools/queries";

import { RunSearch } from "./run-search";
import { RunTable } from "./run-table";
import type { RunsSearch } from "./routes";

const route = getRouteApi("/shell/runs");
const spans = { hour: 3600, day: 86_400, week: 604_800 } as const;

/** Every call I may see. */
export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tools = useQuery(toolsQuery);
  // A thousand choices make every drawing of the page dearer: they come when someone turns to them.
  const [choosing, setChoosing] = useState(false);
  const offered = choosing ? (tools.data ?? []).slice(0, 1000) : [];
  const change = (next: Partial<RunsSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  // A span is counted from when it was chosen: a filter that moves would ask again and again.
  const since = useMemo(
    () => (search.within ? new Date(Date.now() - spans[search.within] * 1000).toISOString() : undefined),
    [search.within],
  );
  const narrowed = Boolean(search.status || search.tool || search.actor || search.within || search.text);
  return (
    <>
      <PageHeader title="Runs" description="Every call you may see, newest first, whoever made it." />
      <div className="mb-4 flex flex-wrap gap-2">
        <RunSearch text={search.text ?? ""} onChange={(text) => change({ text: text || undefined })} />
        <Select aria-label="Status" className="w-44 max-sm:w-[calc(50%-4px)]" value={search.status ?? ""} onChange={(event) => change({ status: event.target.value || undefined })}>
          <option value="">Every status</option>
          {Object.entries(statusWords).map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </Select>
        <Select
          aria-label="Tool"
          className="w-56 max-sm:w-[calc(50%-4px)]"
          value={search.tool ?? ""}
          onFocus={() => setChoosing(true)}
          onPointerEnter={() => setChoosing(true)}
          onChange={(event) => change({ tool: event.target.value || undefined })}
        >
          <option value="">Every tool</option>
          {search.tool && !offered.some((tool) => tool.id === search.tool) ? (
            <option value={search.tool}>{tools.data?.find((tool) => tool.id === search.tool)?.title ?? search.tool}</option>
          ) : null}
          {offered.map((tool) => (
            <option key={tool.id} value={tool.id}>
              {tool.title}
            </option>
          ))}
        </Select>
        <Select
          aria-label="Time"
          className="w-40 max-sm:w-[calc(50%-4px)]"
          value={search.within ?? ""}
          onChange={(event) => change({ within: (event.target.value || undefined) as RunsSearch["within"] })}
        >
          <option value="">Any time</option>
          <option value="hour">Last hour</option>
          <option value="day">Last day</option>
          <option value="week">Last week</option>
        </Select>
        {narrowed ? (
          <Button look="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
            Clear
          </Button>
        ) : null}
      </div>
      <RunTable
        filter={{ tool: search.tool, status: search.status, actor: search.actor, text: search.text, since }}
        action={
          narrowed ? (
            <Button onClick={() => void navigate({ search: {}, replace: true })}>Show all runs</Button>
          ) : (
            <ButtonLink to="/">To the tools</ButtonLink>
          )
        }
        empty={narrowed ? "No run fits. Take a filter away, or look further back." : "Run a tool: every call is kept here with its input and result."}
      />
    </>
  );
}

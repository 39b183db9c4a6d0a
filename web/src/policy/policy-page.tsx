import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { Card } from "@/components/ui/card";
import { PageHeader } from "@/components/ui/page-header";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorState } from "@/components/ui/states";
import { TabPanel, Tabs } from "@/components/ui/tabs";

import { EditorTab } from "./editor-tab";
import { ExplainTab } from "./explain-tab";
import { type Policy, policyQuery } from "./queries";
import type { PolicySearch } from "./routes";
import { TryTab } from "./try-tab";
import { VersionsTab } from "./versions-tab";

const route = getRouteApi("/shell/policy");

/** The text being written, and the version it was made from: what was in force when writing began. */
export type Draft = { text: string; from: Policy };

/** The policies: their text, their versions, why they decide as they do, and what a draft would change. */
export function PolicyPage() {
  const { tab = "text" } = route.useSearch();
  const navigate = route.useNavigate();
  const policy = useQuery(policyQuery);
  // A draft is kept while the tabs change, and never wiped out by what someone else saves.
  const [draft, setDraft] = useState<Draft | null>(null);
  return (
    <>
      <PageHeader
        title="Policy"
        description="Who may see, call and decide, in Cedar. Everything that is not permitted is denied, and a forbid always wins."
      />
      <Tabs
        label="What to show"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === "text" ? undefined : (next as PolicySearch["tab"]) } })}
        tabs={[
          { value: "text", title: "Text" },
          { value: "versions", title: "Versions" },
          { value: "explain", title: "Explain" },
          { value: "try", title: "Try on recorded calls" },
        ]}
      >
        <TabPanel value="text">
          {policy.isPending ? (
            <Loading label="Loading the policies">
              <Skeleton className="h-[420px] rounded-xl" />
            </Loading>
          ) : policy.isError ? (
            <Card>
              <ErrorState error={policy.error} what="The policies could not be loaded" onRetry={() => void policy.refetch()} />
            </Card>
          ) : (
            <EditorTab draft={draft ?? { text: policy.data.text, from: policy.data }} touched={draft !== null} onDraft={setDraft} />
          )}
        </TabPanel>
        <TabPanel value="versions">
          <VersionsTab />
        </TabPanel>
        <TabPanel value="explain">
          <ExplainTab />
        </TabPanel>
        <TabPanel value="try">
          <TryTab draft={draft} />
        </TabPanel>
      </Tabs>
    </>
  );
}

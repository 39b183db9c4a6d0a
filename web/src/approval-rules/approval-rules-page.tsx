import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, UserCheck } from "lucide-react";

import { Button } from "@/components/ui/button";
import { Held } from "@/components/ui/document-drawer";
import { Words } from "@/components/ui/facts";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { clipped } from "@/lib/visible";

import { ApprovalRuleDrawer } from "./approval-rule-drawer";
import { type ApprovalRule, approvalRuleQuery, approvalRulesQuery, spanWords } from "./queries";

const route = getRouteApi("/shell/approval-rules");

const columns: Column<ApprovalRule>[] = [
  {
    key: "name",
    className: nameColumn,
    title: "Rule",
    sort: (rule) => rule.name,
    cell: (rule) => (
      <>
        <Link to="/approval-rules" search={{ id: rule.name }} className={rowNameLook}>
          {rule.name}
        </Link>
        {rule.description ? <span className="block text-xs text-ink-3">{clipped(rule.description, 80)}</span> : null}
      </>
    ),
  },
  { key: "tools", title: "Calls of", cell: (rule) => <Words words={[...(rule.tools ?? []), ...(rule.effects ?? [])]} none="All tools" most={4} /> },
  { key: "who", title: "Who decides", cell: (rule) => <Words words={rule.approvers ?? []} none="Whoever policy lets" most={3} /> },
  { key: "needed", title: "People", numeric: true, sort: (rule) => rule.needed ?? 1, cell: (rule) => rule.needed ?? 1 },
  { key: "passed", title: "Passed on after", className: wideOnly, cell: (rule) => spanWords(rule.escalate_after_seconds) },
  { key: "ends", title: "Ends after", className: wideOnly, cell: (rule) => spanWords(rule.expires_after_seconds) },
];

/** Who has to decide on which calls. */
export function ApprovalRulesPage() {
  const { id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const rules = useInfiniteQuery(approvalRulesQuery);
  const close = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title="Approval rules"
        description="Who has to decide on calls that ask, how many people, and in what time. Whether a call asks at all is for policy to say."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            New rule
          </Button>
        }
      />
      <Listing
        label="Approval rules"
        what="the approval rules"
        list={rules}
        rows={rules.data?.pages.flatMap((page) => page.approval_rules) ?? []}
        columns={columns}
        rowKey={(rule) => rule.name}
        empty={
          <EmptyState icon={UserCheck} title="No approval rules yet">
            One person whom policy lets decides on each call. Write a rule where two are needed, or where it has to be someone certain.
          </EmptyState>
        }
      />
      {add ? <ApprovalRuleDrawer rule={null} onClose={close} /> : null}
      {id ? (
        <Held key={id} query={approvalRuleQuery(id) as never} title={id} what="the approval rule" onClose={close}>
          {(rule: ApprovalRule, again) => <ApprovalRuleDrawer rule={rule} onClose={close} again={again} />}
        </Held>
      ) : null}
    </>
  );
}

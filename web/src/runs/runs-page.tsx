import { PageHeader } from "@/components/ui/page-header";

export function RunsPage() {
  return <PageHeader title="Runs" />;
}

import { PageHeader } from "@/components/ui/page-header";

export function ToolPage() {
  return <PageHeader title="Tool" />;
}

import { Compass } from "lucide-react";

import { ButtonLink } from "@/components/ui/button-link";
import { usePageTitle } from "@/components/ui/page-header";
import { EmptyState } from "@/components/ui/states";

/** An address that leads nowhere. */
export function NotFound() {
  usePageTitle("Not found");
  return (
    <main className="flex min-h-[70dvh] items-center justify-center">
      <EmptyState
        level={1}
        icon={Compass}
        title="There is nothing here"
        action={<ButtonLink to="/">To the tools</ButtonLink>}
      >
        The address may be mistyped, or what it led to is gone or not yours to see.
      </EmptyState>
    </main>
  );
}

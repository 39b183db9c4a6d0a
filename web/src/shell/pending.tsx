import type { ErrorComponentProps } from "@tanstack/react-router";
import { RotateCcw, TriangleAlert } from "lucide-react";

import { asProblem } from "@/api/error";
import { Button } from "@/components/ui/button";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { EmptyState } from "@/components/ui/states";

/** A page that is on its way. */
export function PendingPage() {
  return (
    <Loading label="Loading the page">
      <Skeleton className="h-8 w-48" />
      <Skeleton className="mt-3 h-4 w-80 max-w-full" />
      <Skeleton className="mt-8 h-64 rounded-xl" />
    </Loading>
  );
}

/** A page that broke. Most often the gate was updated and a part of the old page is gone: loading it anew helps. */
export function BrokenPage({ error }: ErrorComponentProps) {
  return (
    <EmptyState
      level={1}
      icon={TriangleAlert}
      title="This page broke"
      action={
        <Button onClick={() => window.location.reload()}>
          <RotateCcw aria-hidden />
          Load it again
        </Button>
      }
    >
      Nothing was changed by it. If loading it again does not help, tell whoever runs this gate:{" "}
      {asProblem(error).sentence}
    </EmptyState>
  );
}

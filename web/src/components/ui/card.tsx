import type { ComponentProps, ReactNode } from "react";

import { cn } from "@/lib/cn";

/** A surface with an edge. */
export function Card({ className, ...props }: ComponentProps<"div">) {
  return <div className={cn("rounded-xl border border-line bg-surface shadow-card", className)} {...props} />;
}

/** A card with a title, and perhaps something beside it. */
export function TitledCard({
  title,
  aside,
  children,
  className,
  flush,
  level = 2,
}: {
  title: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  /** The content reaches the edges, as tables do. */
  flush?: boolean;
  /** The level of the title: 3 below a part that has a title of its own. */
  level?: 2 | 3;
}) {
  const Title = `h${level}` as const;
  return (
    <Card className={cn("min-w-0", className)}>
      <div className="flex min-h-[52px] flex-wrap items-center justify-between gap-3 px-5 py-2.5">
        <Title className="text-sm font-semibold">{title}</Title>
        {aside}
      </div>
      <div className={flush ? "" : "px-5 pb-5"}>{children}</div>
    </Card>
  );
}

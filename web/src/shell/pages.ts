import { BadgeCheck, History, Inbox, LayoutGrid, type LucideIcon, Plug } from "lucide-react";

import type { LinkProps } from "@tanstack/react-router";

/** An entry of the side bar and of the palette. Only pages that exist stand here. */
export type PageEntry = {
  group: "Work" | "Build" | "Admin";
  to: NonNullable<LinkProps["to"]>;
  title: string;
  icon: LucideIcon;
  /** Shown only to those who hold this access rule. */
  needs?: string;
  /** Carries the number of decisions that wait for me. */
  badge?: "inbox";
  /** Other addresses that belong to it. */
  also?: string[];
};

export const pages: PageEntry[] = [
  { group: "Work", to: "/", title: "Tools", icon: LayoutGrid, also: ["/tools"] },
  { group: "Work", to: "/runs", title: "Runs", icon: History },
  { group: "Work", to: "/approvals", title: "Approvals", icon: Inbox, badge: "inbox" },
  { group: "Work", to: "/grants", title: "Standing grants", icon: BadgeCheck },
  { group: "Build", to: "/upstreams", title: "MCP servers", icon: Plug, needs: "*" },
];

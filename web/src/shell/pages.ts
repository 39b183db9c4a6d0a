import {
  AppWindow,
  BadgeCheck,
  BellRing,
  Building2,
  Boxes,
  ChartLine,
  Gauge,
  History,
  IdCard,
  Inbox,
  KeyRound,
  KeySquare,
  LayoutGrid,
  Link2,
  ListChecks,
  type LucideIcon,
  Plug,
  Power,
  Scale,
  ScrollText,
  SlidersHorizontal,
  UserCheck,
  UserCog,
  UsersRound,
} from "lucide-react";

import type { LinkProps } from "@tanstack/react-router";

import { holds } from "@/api/queries";

/** An entry of the side bar and of the palette. Only pages that exist stand here. */
export type PageEntry = {
  group: "Work" | "Build" | "Admin";
  to: NonNullable<LinkProps["to"]>;
  title: string;
  icon: LucideIcon;
  /** Shown only to those who hold this access rule. */
  needs?: string;
  /** And only in this tenant: the server is run from `default`. */
  tenant?: string;
  /** And to those who have one of these roles. */
  roles?: string[];
  /** Carries the number of decisions that wait for me. */
  badge?: "inbox";
  /** Other addresses that belong to it. */
  also?: string[];
  /** The page it belongs to: the side bar shows it below that one, while one of the two is open. */
  under?: PageEntry["to"];
};

export const pages: PageEntry[] = [
  { group: "Work", to: "/", title: "Tools", icon: LayoutGrid, also: ["/tools"] },
  { group: "Work", to: "/runs", title: "Runs", icon: History },
  { group: "Work", to: "/approvals", title: "Approvals", icon: Inbox, badge: "inbox" },
  { group: "Work", to: "/grants", title: "Standing grants", icon: BadgeCheck, under: "/approvals" },
  { group: "Work", to: "/usage", title: "Usage", icon: ChartLine },
  { group: "Build", to: "/upstreams", title: "MCP servers", icon: Plug, needs: "*" },
  { group: "Build", to: "/connections", title: "Connections", icon: KeySquare },
  { group: "Build", to: "/registry", title: "Registry", icon: ListChecks, needs: "*" },
  { group: "Build", to: "/toolsets", title: "Toolsets", icon: Boxes, needs: "*", under: "/registry" },
  { group: "Build", to: "/assignments", title: "Assignments", icon: UserCog, needs: "*" },
  { group: "Build", to: "/profiles", title: "Profiles", icon: SlidersHorizontal, needs: "*", under: "/assignments" },
  { group: "Admin", to: "/principals", title: "People and agents", icon: UsersRound, needs: "*" },
  { group: "Admin", to: "/roles", title: "Roles", icon: IdCard, needs: "*", under: "/principals" },
  { group: "Admin", to: "/tenant-links", title: "Links to other tenants", icon: Link2, needs: "*", under: "/principals" },
  { group: "Admin", to: "/tenants", title: "Tenants", icon: Building2, needs: "*", tenant: "default" },
  { group: "Admin", to: "/keys", title: "API keys", icon: KeyRound },
  { group: "Admin", to: "/applications", title: "Applications", icon: AppWindow, under: "/keys" },
  { group: "Admin", to: "/policy", title: "Policy", icon: Scale, needs: "*" },
  { group: "Admin", to: "/approval-rules", title: "Approval rules", icon: UserCheck, needs: "*", under: "/policy" },
  { group: "Admin", to: "/limits", title: "Limits", icon: Gauge, needs: "*", under: "/policy" },
  { group: "Admin", to: "/kills", title: "Kill switches", icon: Power, needs: "*" },
  { group: "Admin", to: "/audit", title: "Audit", icon: ScrollText, needs: "*", roles: ["auditor"] },
  { group: "Admin", to: "/notifications", title: "Notifications", icon: BellRing, needs: "*", under: "/audit" },
];

/** Whether an address is that of a page. */
export function isAt(page: PageEntry, path: string): boolean {
  if (page.to === "/" && path === "/") return true;
  return [page.to, ...(page.also ?? [])].some((base) => base !== "/" && (path === base || path.startsWith(`${base}/`)));
}

/** Whether a page is worth showing to someone. The server has the last word on what is in it. */
export function mayOpen(page: PageEntry, me: { tenant?: string; rules?: readonly string[]; roles?: readonly string[] } | undefined): boolean {
  if (page.tenant !== undefined && me?.tenant !== page.tenant) return false;
  if (page.needs === undefined || holds(me?.rules, page.needs)) return true;
  return page.roles?.some((role) => me?.roles?.includes(role)) ?? false;
}

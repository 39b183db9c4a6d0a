import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";

import { meQuery, signInQuery } from "@/api/queries";
import { cn } from "@/lib/cn";
import { initials, principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";
import { ownTenantsQuery } from "@/tenants/queries";

import { useInboxCount } from "./inbox";
import { isAt, mayOpen, type PageEntry, pages } from "./pages";

const UserMenu = lazy(() => import("./user-menu").then((module) => ({ default: module.UserMenu })));

/** The three groups, and who is signed in. `onGo` closes it where it is a menu. */
export function SideBar({ onGo }: { onGo?: () => void }) {
  const me = useQuery(meQuery);
  const signIn = useQuery(signInQuery);
  const tenants = useQuery(ownTenantsQuery);
  const tenant = tenants.data?.find((own) => own.current)?.title ?? signIn.data?.tenant ?? "";
  const path = useRouterState({ select: (state) => state.location.pathname });
  const shown = pages.filter((page) => mayOpen(page, me.data));
  const { name } = principalName(signIn.data?.principal ?? "");
  const who = (
    <>
      <span
        aria-hidden
        className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent-ink"
      >
        {initials(name)}
      </span>
      <span className="min-w-0 text-left">
        <span className="block truncate text-sm font-medium">{name}</span>
        <span className="block truncate text-xs text-ink-3">{clipped(tenant, 60)}</span>
      </span>
    </>
  );
  return (
    <div className="flex h-full flex-col bg-sunken">
      <div className="flex h-14 shrink-0 items-center gap-2.5 px-5">
        <img src="/favicon.svg" alt="" className="size-7" />
        <span className="text-base font-semibold tracking-tight">Toolgate</span>
      </div>
      <nav aria-label="Pages" className="min-h-0 flex-1 overflow-y-auto px-3 pb-4">
        {/* What everyone has comes first and stays where it is; the rest comes at once, below it. */}
        {(me.isPending ? (["Work"] as const) : (["Work", "Build", "Admin"] as const)).map((group) => {
          const entries = shown.filter((page) => page.group === group && !belongs(page, shown));
          return entries.length === 0 ? null : (
            <div key={group} className="mb-4">
              <h2 className="px-2 pb-1.5 text-xs font-medium text-ink-3">{group}</h2>
              <ul className="space-y-0.5">
                {entries.map((page) => (
                  <Section key={page.to} page={page} below={shown.filter((other) => other.under === page.to)} path={path} onGo={onGo} />
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <Suspense fallback={<div className="flex items-center gap-3 border-t border-line px-4 py-3">{who}</div>}>
        <UserMenu onGo={onGo}>{who}</UserMenu>
      </Suspense>
    </div>
  );
}

/** Whether a page stands below another one that is shown too. */
const belongs = (page: PageEntry, shown: PageEntry[]) => shown.some((other) => other.to === page.under);

/** A page, and below it, while one of them is open, the pages that belong to it. */
function Section({ page, below, path, onGo }: { page: PageEntry; below: PageEntry[]; path: string; onGo?: () => void }) {
  const inside = below.some((other) => isAt(other, path));
  const active = isAt(page, path);
  return (
    <li>
      <Entry page={page} active={active} inside={inside} onGo={onGo} />
      {below.length > 0 && (active || inside) ? (
        <ul className="ml-[15px] mt-0.5 space-y-0.5 border-l border-line pl-2">
          {below.map((other) => (
            <li key={other.to}>
              <Entry page={other} active={isAt(other, path)} below onGo={onGo} />
            </li>
          ))}
        </ul>
      ) : null}
    </li>
  );
}

function Entry({ page, active, inside, below, onGo }: {
  page: PageEntry;
  active: boolean;
  /** One of the pages below it is open. */
  inside?: boolean;
  /** It stands below another one. */
  below?: boolean;
  onGo?: () => void;
}) {
  const waiting = useInboxCount();
  const Icon = page.icon;
  const link = useRef<HTMLAnchorElement>(null);
  // The list may be longer than the screen: the page one has come to stays in sight.
  useEffect(() => {
    if (active) link.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <Link
      to={page.to}
      onClick={onGo}
      ref={link}
      aria-current={active ? "page" : undefined}
      className={cn(
        "flex h-[34px] items-center gap-2.5 rounded-lg border border-transparent px-2 text-sm font-medium text-ink-2 hover:bg-hover hover:text-ink",
        below && "h-8 px-2.5",
        inside && "text-ink",
        active && "border-line bg-raised text-ink shadow-card hover:bg-raised [[data-theme=dark]_&]:border-transparent [[data-theme=dark]_&]:bg-hover",
      )}
    >
      {below ? null : <Icon aria-hidden className={cn("size-4", active || inside ? "text-accent-ink" : "text-ink-3")} />}
      <span className="flex-1">{page.title}</span>
      {page.badge === "inbox" && waiting > 0 ? (
        <span className="flex h-5 min-w-5 items-center justify-center rounded-full bg-accent px-1 text-2xs font-semibold text-white">
          {waiting > 99 ? "99+" : waiting}
          <span className="sr-only"> waiting for you</span>
        </span>
      ) : null}
    </Link>
  );
}

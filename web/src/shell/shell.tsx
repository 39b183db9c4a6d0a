import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";

import { Toaster } from "@/components/ui/toast";
import { KillStrip } from "@/kills/kill-strip";

import { useInboxEvents } from "./inbox";
import { ReconnectBar } from "./reconnect-bar";
import { SideBar } from "./side-bar";
import { TopBar } from "./top-bar";

const SideMenu = lazy(() => import("./side-menu").then((module) => ({ default: module.SideMenu })));
const Palette = lazy(() => import("./palette").then((module) => ({ default: module.Palette })));
const RunDrawer = lazy(() => import("@/runs/run-drawer").then((module) => ({ default: module.RunDrawer })));

/** What stands around every page: the side bar, the top bar, the palette and the run drawer. */
export function Shell() {
  const [menu, setMenu] = useState(false);
  const [palette, setPalette] = useState(false);
  useInboxEvents();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        setPalette((open) => !open);
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[236px_minmax(0,1fr)]">
      <a href="#main" className="skip-link">
        Skip to the page
      </a>
      <aside className="sticky top-0 h-dvh border-r border-line max-md:hidden" aria-label="Side bar">
        <SideBar />
      </aside>
      <div className="min-w-0">
        <TopBar onMenu={() => setMenu(true)} onPalette={() => setPalette(true)} />
        <ReconnectBar />
        <KillStrip />
        <main id="main" tabIndex={-1} className="mx-auto max-w-[1384px] px-8 py-8 outline-none max-md:px-4 max-md:py-6">
          <Suspense>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>
        <RunDrawer />
        {menu ? <SideMenu onClose={() => setMenu(false)} /> : null}
        {palette ? <Palette open onOpenChange={setPalette} /> : null}
      </Suspense>
      <Toaster />
    </div>
  );
}

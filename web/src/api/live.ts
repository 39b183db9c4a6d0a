import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";

/** How long contact may be lost before people are told. */
const PATIENCE = 3000;
const AGAIN = 2000;

// Streams that have lost contact, and since when. The bar above the page shows when one has been gone for long.
const lost = new Map<symbol, number>();
const listeners = new Set<() => void>();
let shown = false;

function look(): void {
  const now = Date.now();
  const next = [...lost.values()].some((since) => now - since >= PATIENCE);
  if (next !== shown) {
    shown = next;
    for (const tell of listeners) tell();
  }
}

/** Whether contact with the server has been lost for a while. */
export function useReconnecting(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

// First answers that are on their way and will be asked for once more when they are here.
const late = new WeakSet<Query>();

/**
 * Asks again for what is held under a key, as something happened to it.
 *
 * A first answer that is still on its way may have been read before that, and `invalidateQueries` takes it for news
 * enough: it is shown when it comes, and then asked for once more.
 */
export function askAgain(client: QueryClient, queryKey: QueryKey = []): void {
  const coming = client.getQueryCache().findAll({ queryKey, fetchStatus: "fetching" });
  void client.invalidateQueries({ queryKey });
  for (const query of coming) {
    if (query.state.data !== undefined || late.has(query)) continue;
    late.add(query);
    const only = { queryKey: query.queryKey, exact: true };
    // This begins nothing: it waits for the answer that is coming.
    void client.refetchQueries(only).then(() => {
      late.delete(query);
      return client.invalidateQueries(only);
    });
  }
}

type Listening = {
  /** The event names to hear. */
  types: readonly string[];
  onEvent: (type: string, data: unknown) => void;
  /** Contact is back after it was lost: what happened in between has to be asked for. */
  onReturn?: () => void;
};

/**
 * Listens to server-sent events while the page is in sight: browsers keep few connections to one host, and a tab that
 * nobody looks at should hold none. `url` may be null to listen to nothing.
 *
 * A stream says where things stand when it opens, or begins where the list that is shown ends: nothing is missed before
 * the first opening, so only a later one is told of.
 */
export function useEvents(url: string | null, listening: Listening): void {
  const latest = useRef(listening);
  latest.current = listening;
  const types = listening.types.join(" ");
  useEffect(() => {
    if (url === null) return;
    const key = Symbol(url);
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let away = false;

    const missed = () => {
      away = true;
      if (!lost.has(key)) lost.set(key, Date.now());
      setTimeout(look, PATIENCE + 50);
    };
    const open = () => {
      if (source || document.visibilityState === "hidden") return;
      source = new EventSource(url);
      source.onopen = () => {
        lost.delete(key);
        look();
        if (away) latest.current.onReturn?.();
        away = false;
      };
      source.onerror = () => {
        missed();
        // A stream that was refused is not opened again by the browser.
        if (source?.readyState === EventSource.CLOSED) {
          close();
          timer = setTimeout(open, AGAIN);
        }
      };
      for (const type of types.split(" ")) {
        source.addEventListener(type, (event) => {
          let data: unknown = null;
          try {
            data = JSON.parse((event as MessageEvent<string>).data);
          } catch {
            // A part of a message says nothing.
            return;
          }
          latest.current.onEvent(type, data);
        });
      }
    };
    const close = () => {
      clearTimeout(timer);
      source?.close();
      source = null;
    };
    const seen = () => {
      if (document.visibilityState === "hidden") {
        close();
        away = true;
        lost.delete(key);
        look();
      } else open();
    };
    open();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      close();
      lost.delete(key);
      look();
    };
  }, [url, types]);
}

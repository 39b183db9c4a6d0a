import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";

import { api, type Schemas, unwrap } from "@/api/client";
import { toast } from "@/components/ui/toast";

/** What tells this browser's other tabs that whoever is signed in is someone else now. */
const CHANNEL = "toolgate.tenant";

/**
 * Goes to another tenant. The page is loaded anew: nothing that was seen of the one before stays, in this tab or in
 * another.
 */
export function useSwitchTenant() {
  return useMutation({
    mutationFn: (tenant: string) => unwrap(api.POST("/api/v1/me/tenants/switch", { body: { tenant } })),
    onSuccess: () => {
      const channel = new BroadcastChannel(CHANNEL);
      channel.postMessage("switched");
      channel.close();
      window.location.assign("/");
    },
    onError: (error) => toast(error instanceof Error ? error.message : "That did not work."),
  });
}

/** Leaves this page when another tab has gone to another tenant: what stands here is not theirs any more. */
export function useTenantSwitches(): void {
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = () => window.location.assign("/");
    return () => channel.close();
  }, []);
}

/** The page to sign in to a tenant that wants to see its people itself. */
export const signInTo = (tenant: string) => `/sign-in?${new URLSearchParams({ tenant, add: "true" })}`;

/** Whom something in this browser's own storage is kept for: one name in two tenants is two people. */
export function personKey(signIn: Schemas["SignedInView"] | undefined): string {
  if (!signIn) return "";
  return signIn.tenant === "default" ? signIn.principal : `${signIn.tenant} ${signIn.principal}`;
}

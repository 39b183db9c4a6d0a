import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Building2, Check, ChevronsUpDown, LogIn, LogOut, Plus } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

import { api } from "@/api/client";
import { signInQuery } from "@/api/queries";
import { menuItemLook, menuLook } from "@/components/ui/filter-menu";
import { clipped } from "@/lib/visible";
import { ownTenantsQuery } from "@/tenants/queries";
import { signInTo, useSwitchTenant, useTenantSwitches } from "@/tenants/switch-tenant";

/** Who is signed in, in which tenant, the way to their others, and the way out. */
export function UserMenu({ children, onGo }: { children: ReactNode; onGo?: () => void }) {
  const signIn = useQuery(signInQuery);
  const navigate = useNavigate();
  useTenantSwitches();
  const leave = async () => {
    await api.POST("/api/v1/auth/sign-out");
    window.location.assign("/sign-in");
  };
  const go = (add?: true) => {
    onGo?.();
    void navigate({ to: "/organisations", search: { add } });
  };
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="flex items-center gap-3 border-t border-line px-4 py-3 outline-offset-[-2px] hover:bg-hover">
        {children}
        <ChevronsUpDown aria-hidden className="ml-auto size-4 shrink-0 text-ink-3" />
        <span className="sr-only">Account</span>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content side="top" align="start" sideOffset={6} className={`${menuLook} w-[236px]`}>
          <div className="px-2 py-1.5 text-xs text-ink-3">
            <p className="truncate font-mono text-ink-2">{signIn.data?.principal}</p>
            <p className="truncate">
              Tenant {signIn.data?.tenant}
              {signIn.data?.roles.length ? ` · ${signIn.data.roles.join(", ")}` : ""}
            </p>
          </div>
          <DropdownMenu.Separator className="my-1 h-px bg-line" />
          <Organisations onManage={() => go()} />
          <DropdownMenu.Item className={menuItemLook} onSelect={() => go(true)}>
            <Plus aria-hidden className="size-4 text-ink-3" />
            Add another organisation
          </DropdownMenu.Item>
          <DropdownMenu.Separator className="my-1 h-px bg-line" />
          <DropdownMenu.Item className={menuItemLook} onSelect={() => void leave()}>
            <LogOut aria-hidden className="size-4 text-ink-3" />
            Sign out
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** The tenants of someone who has several; nothing for everyone else. */
function Organisations({ onManage }: { onManage: () => void }) {
  const tenants = useQuery(ownTenantsQuery);
  const change = useSwitchTenant();
  const all = tenants.data ?? [];
  if (all.length < 2) return null;
  return (
    <>
      <DropdownMenu.Group>
        <DropdownMenu.Label className="px-2 py-1 text-xs text-ink-3">Switch to</DropdownMenu.Label>
        {all.map((own) => (
          <DropdownMenu.Item
            key={own.id}
            className={menuItemLook}
            disabled={own.access === "closed" || change.isPending}
            onSelect={() => {
              if (own.access === "switch") change.mutate(own.id);
              if (own.access === "sign_in") window.location.assign(signInTo(own.id));
            }}
          >
            <span className="size-4 shrink-0">
              {own.current ? <Check aria-hidden className="size-4 text-accent-ink" /> : null}
              {own.access === "sign_in" ? <LogIn aria-hidden className="size-4 text-ink-3" /> : null}
            </span>
            <span className="min-w-0 flex-1 truncate">{clipped(own.title, 60)}</span>
            {own.current ? <span className="sr-only">(you are here)</span> : null}
            {own.access === "closed" ? <span className="text-xs text-ink-3">closed</span> : null}
          </DropdownMenu.Item>
        ))}
      </DropdownMenu.Group>
      <DropdownMenu.Separator className="my-1 h-px bg-line" />
      <DropdownMenu.Item className={menuItemLook} onSelect={onManage}>
        <Building2 aria-hidden className="size-4 text-ink-3" />
        Your organisations
      </DropdownMenu.Item>
    </>
  );
}

import { useQuery } from "@tanstack/react-query";
import { ChevronsUpDown, LogOut } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

import { api } from "@/api/client";
import { signInQuery } from "@/api/queries";
import { menuItemLook, menuLook } from "@/components/ui/filter-menu";

/** Who is signed in, in which tenant, and the way out. */
export function UserMenu({ children }: { children: ReactNode }) {
  const signIn = useQuery(signInQuery);
  const leave = async () => {
    await api.POST("/api/v1/auth/sign-out");
    window.location.assign("/sign-in");
  };
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="flex items-center gap-3 border-t border-line px-4 py-3 outline-offset-[-2px] hover:bg-hover">
        {children}
        <ChevronsUpDown aria-hidden className="ml-auto size-4 shrink-0 text-ink-3" />
        <span className="sr-only">Account</span>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content side="top" align="start" sideOffset={6} className={`${menuLook} w-[212px]`}>
          <div className="px-2 py-1.5 text-xs text-ink-3">
            <p className="truncate font-mono text-ink-2">{signIn.data?.principal}</p>
            <p className="truncate">
              Tenant {signIn.data?.tenant}
              {signIn.data?.roles.length ? ` · ${signIn.data.roles.join(", ")}` : ""}
            </p>
          </div>
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

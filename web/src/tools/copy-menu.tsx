import { Copy, Link2 } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import { Button } from "@/components/ui/button";
import { menuItemLook, menuLook } from "@/components/ui/filter-menu";
import { toast } from "@/components/ui/toast";

import { draftOf } from "./input-draft";
import { type SnippetKind, snippet, snippetKinds } from "./snippets";

async function copy(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  toast(`Copied ${what}`);
}

/** The same call elsewhere: as a command, a request or a link. */
export function CopyMenu({ tool }: { tool: string }) {
  const input = () => draftOf(tool) ?? {};
  const link = () => `${window.location.origin}/tools/${tool}?${new URLSearchParams({ input: JSON.stringify(input()) })}`;
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button aria-label="Copy this call">
          <Copy aria-hidden />
          Copy as
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={6} className={menuLook}>
          {Object.entries(snippetKinds).map(([kind, title]) => (
            <DropdownMenu.Item
              key={kind}
              className={menuItemLook}
              onSelect={() => void copy(snippet(kind as SnippetKind, window.location.origin, tool, input()), `as ${title}`)}
            >
              {title}
            </DropdownMenu.Item>
          ))}
          <DropdownMenu.Separator className="my-1 h-px bg-line" />
          <DropdownMenu.Item className={menuItemLook} onSelect={() => void copy(link(), "a link that fills in this input")}>
            <Link2 aria-hidden className="size-4 text-ink-3" />
            Link with this input
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

import { Dialog } from "radix-ui";

import { SideBar } from "./side-bar";

/** The side bar where there is no room for one: a menu over the page. */
export function SideMenu({ onClose }: { onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-30 w-[264px] border-r border-line shadow-pop outline-none"
        >
          <Dialog.Title className="sr-only">Menu</Dialog.Title>
          <SideBar onGo={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

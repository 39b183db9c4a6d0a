import { Requester } from "@/approvals/requester";
import { ButtonLink } from "@/components/ui/button-link";
import { CopyableId } from "@/components/ui/copyable";
import { Drawer, DrawerSection } from "@/components/ui/drawer";
import { Facts } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import { formatExact } from "@/lib/format";
import { clipped } from "@/lib/visible";

import { aboutOf, type AuditEvent } from "./record";
import { EventBadge } from "./words";

/** One event as it stands in the record. */
export function EventDrawer({ event, onClose }: { event: AuditEvent; onClose: () => void }) {
  return (
    <Drawer
      open
      onClose={onClose}
      badges={<EventBadge type={event.type} />}
      title={<span className="break-all font-mono text-lg">{clipped(aboutOf(event), 160) || event.type}</span>}
      footer={
        event.call_id && event.type !== "admin.changed" ? (
          <ButtonLink to="/runs" search={{ run: event.call_id } as never}>Open the run</ButtonLink>
        ) : undefined
      }
    >
      <Facts
        facts={[
          ["Who", <Requester key="who" actor={event.actor} />],
          ["When", formatExact(event.at)],
          ["Session", <CopyableId key="session" id={event.session_id} />],
          ["Number", event.seq],
          ["Digest", <code key="hash" className="break-all font-mono text-xs">{event.hash}</code>],
          ["Of the one before", <code key="prev" className="break-all font-mono text-xs">{event.prev_hash}</code>],
        ]}
      />
      <DrawerSection title="What it says">
        <JsonView value={event.data ?? {}} label="Data of the event" />
      </DrawerSection>
    </Drawer>
  );
}

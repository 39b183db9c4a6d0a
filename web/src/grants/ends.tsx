import { Badge } from "@/components/ui/badge";
import { RelativeTime } from "@/components/ui/relative-time";

/** When it ends, or that it has. */
export function Ends({ at }: { at: string }) {
  return new Date(at).getTime() < Date.now() ? <Badge>Ended</Badge> : <RelativeTime at={at} className="whitespace-nowrap" />;
}

import { Clock } from "lucide-react";
import { useEffect, useState } from "react";

import { Badge } from "@/components/ui/badge";
import { formatExact } from "@/lib/format";

/** How long there is, in the two largest units that matter. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds === 0) return "time is up";
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min left`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h left` : `${Math.round(hours / 24)} days left`;
}

/** Counts down to the moment after which nobody may decide any more. */
export function TimeLeft({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now());
  const left = new Date(until).getTime() - now;
  // Seconds are told in the last two minutes only.
  const pace = left < 120_000 ? 1_000 : 15_000;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), pace);
    return () => clearInterval(timer);
  }, [pace]);
  return (
    <Badge tone={left < 120_000 ? "warn" : "accent"} icon={Clock} title={`Until ${formatExact(until)}`}>
      {formatLeft(left)}
    </Badge>
  );
}

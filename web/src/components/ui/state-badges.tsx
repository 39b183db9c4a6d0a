import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleX,
  Clock,
  Eye,
  Hourglass,
  type LucideIcon,
  Pencil,
  Plug,
  Blocks,
  Package,
  Puzzle,
  ShieldCheck,
  TimerOff,
  TriangleAlert,
  Upload,
  Download,
} from "lucide-react";

import { humanWord } from "@/lib/format";

import { Badge, type Tone } from "./badge";

type Face = { tone: Tone; icon: LucideIcon; word: string };

const effects: Record<string, Face> = {
  read: { tone: "ok", icon: Eye, word: "Reads" },
  mutate: { tone: "warn", icon: Pencil, word: "Writes" },
  destructive: { tone: "danger", icon: TriangleAlert, word: "Destructive" },
};

const statuses: Record<string, Face> = {
  pending: { tone: "accent", icon: Hourglass, word: "Needs approval" },
  running: { tone: "info", icon: CircleDashed, word: "Running" },
  waiting: { tone: "accent", icon: Clock, word: "Waiting" },
  completed: { tone: "ok", icon: CircleCheck, word: "Succeeded" },
  failed: { tone: "danger", icon: CircleX, word: "Failed" },
  rejected: { tone: "danger", icon: Ban, word: "Rejected" },
  cancelled: { tone: "neutral", icon: Ban, word: "Cancelled" },
  expired: { tone: "neutral", icon: TimerOff, word: "Expired" },
  in_doubt: { tone: "warn", icon: CircleHelp, word: "In doubt" },
};

const verdicts: Record<string, Face> = {
  allow: { tone: "ok", icon: CircleCheck, word: "Allowed" },
  pass: { tone: "ok", icon: CircleCheck, word: "Passes" },
  ask: { tone: "accent", icon: ShieldCheck, word: "Asks a person" },
  deny: { tone: "danger", icon: Ban, word: "Denied" },
  hide: { tone: "danger", icon: Ban, word: "Hidden" },
  skip: { tone: "neutral", icon: CircleDashed, word: "Not asked" },
};

const egresses: Record<string, Face> = {
  read_only: { tone: "neutral", icon: Download, word: "Asks outside" },
  write: { tone: "warn", icon: Upload, word: "Sends out" },
};

/** Every status a run can have, with its word. */
export const statusWords: Record<string, string> = Object.fromEntries(
  Object.entries(statuses).map(([status, face]) => [status, face.word]),
);

/** The words of the effects. */
export const effectWords: Record<string, string> = Object.fromEntries(
  Object.entries(effects).map(([effect, face]) => [effect, face.word]),
);

function face(faces: Record<string, Face>, key: string): Face {
  // A word this page does not know yet is still shown.
  return faces[key] ?? { tone: "neutral", icon: CircleHelp, word: key };
}

function Faced({ of, value }: { of: Record<string, Face>; value: string }) {
  const { tone, icon, word } = face(of, value);
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}

/** What a call does to state. */
export const EffectBadge = ({ effect }: { effect: string }) => <Faced of={effects} value={effect} />;
/** Where a run stands. */
export const StatusBadge = ({ status }: { status: string }) => <Faced of={statuses} value={status} />;
/** What policy says. */
export const VerdictBadge = ({ verdict }: { verdict: string }) => <Faced of={verdicts} value={verdict} />;
/** What leaves the house; nothing when nothing does. */
export const EgressBadge = ({ egress }: { egress: string }) =>
  egress === "none" ? null : <Faced of={egresses} value={egress} />;
/** Every call waits for a person. */
export const ApprovalBadge = () => (
  <Badge tone="accent" icon={ShieldCheck}>
    Approval
  </Badge>
);

/** Where a tool comes from, by its id's namespace. */
export function originOf(id: string): { key: string; word: string; icon: LucideIcon } {
  const namespace = id.split("__")[0] ?? id;
  switch (namespace) {
    case "core":
      return { key: "core", word: "Built in", icon: Blocks };
    case "mcp":
      return { key: "mcp", word: "MCP", icon: Plug };
    case "custom":
      return { key: "custom", word: "Custom", icon: Puzzle };
    default:
      return { key: namespace, word: humanWord(namespace), icon: Package };
  }
}

/** Where a tool comes from: an icon and a word, in grey. */
export function OriginBadge({ id }: { id: string }) {
  const origin = originOf(id);
  return <Badge icon={origin.icon}>{origin.word}</Badge>;
}

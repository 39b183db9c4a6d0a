import {
  BarChart3,
  Bot,
  Box,
  Brain,
  Building2,
  Calculator,
  CalendarSearch,
  ChartLine,
  ClipboardList,
  Clock,
  Cloud,
  Code,
  Coins,
  Database,
  FileText,
  FlaskConical,
  Gauge,
  GitBranch,
  Globe,
  Grid2x2,
  Image,
  Inbox,
  Layers,
  LayoutGrid,
  ListChecks,
  ListOrdered,
  type LucideIcon,
  Mail,
  MessageCircleQuestionMark,
  Network,
  Plug,
  Puzzle,
  Radar,
  Receipt,
  Rocket,
  Scale,
  Search,
  Send,
  Shield,
  Sparkles,
  Target,
  Timer,
  TrendingUp,
  UserX,
  Users,
  Workflow,
  Wrench,
  Zap,
} from "lucide-react";

import { cn } from "@/lib/cn";

// A fixed map: a tool's icon is a word from outside, never a path or a component.
const icons: Record<string, LucideIcon> = {
  "bar-chart": BarChart3, "bar-chart-3": BarChart3, bot: Bot, box: Box, brain: Brain, building: Building2,
  calculator: Calculator, "calendar-search": CalendarSearch, "chart-line": ChartLine, "clipboard-list": ClipboardList,
  clock: Clock, cloud: Cloud, code: Code, coins: Coins, database: Database, "file-text": FileText,
  "flask-conical": FlaskConical, gauge: Gauge, "git-branch": GitBranch, globe: Globe, "grid-2x2": Grid2x2, image: Image,
  inbox: Inbox, layers: Layers, "layout-grid": LayoutGrid, "list-checks": ListChecks, "list-ordered": ListOrdered, mail: Mail,
  "message-circle-question": MessageCircleQuestionMark, network: Network, plug: Plug, puzzle: Puzzle, radar: Radar, receipt: Receipt, rocket: Rocket,
  scale: Scale, search: Search, send: Send, shield: Shield, sparkles: Sparkles, target: Target, timer: Timer,
  "trending-up": TrendingUp, "user-x": UserX, users: Users, workflow: Workflow, wrench: Wrench, zap: Zap,
};

/** A tool's icon in its frame. */
export function ToolIcon({ icon, large }: { icon: string; large?: boolean }) {
  const Icon = icons[icon] ?? Wrench;
  return (
    <span
      aria-hidden
      className={cn(
        "flex shrink-0 items-center justify-center rounded-lg",
        large ? "size-12 rounded-xl bg-accent-soft text-accent-ink [&_svg]:size-6" : "size-10 border border-line bg-sunken text-ink-2 [&_svg]:size-5",
      )}
    >
      <Icon strokeWidth={1.75} />
    </span>
  );
}

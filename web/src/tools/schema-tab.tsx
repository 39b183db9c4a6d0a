import { TitledCard } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable";
import { JsonView } from "@/components/ui/json-view";
import { formatDuration, formatNumber } from "@/lib/format";

import type { Tool } from "./queries";

/** What the tool promises: the schemas and limits of its contract. */
export function SchemaTab({ tool }: { tool: Tool }) {
  const facts: [string, React.ReactNode][] = [
    ["Id", <CopyableId key="id" id={tool.id} />],
    ["Version", <CopyableId key="version" id={tool.version} className="max-w-full truncate" />],
    ["Same call twice", tool.idempotent ? "is the same as once" : "happens twice"],
    ["Time", `at most ${formatDuration(tool.timeout_ms)}`],
    ["Result", `at most ${formatNumber(tool.max_result_bytes / 1024)} kB`],
    ["Shown of the result", tool.redaction_allow.includes("*") ? "everything" : tool.redaction_allow.join(", ")],
    ["Old ids", tool.aliases.length > 0 ? tool.aliases.join(", ") : "none"],
  ];
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <TitledCard title="Contract" className="lg:col-span-2">
        <dl className="grid grid-cols-[minmax(120px,auto)_minmax(0,1fr)] gap-x-6 gap-y-1.5 text-sm">
          {facts.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-ink-3">{name}</dt>
              <dd className="min-w-0 break-words">{value}</dd>
            </div>
          ))}
        </dl>
      </TitledCard>
      <TitledCard title="Input">
        <JsonView value={tool.input_schema} label="Input schema" />
      </TitledCard>
      <TitledCard title="Output">
        <JsonView value={tool.output_schema} label="Output schema" />
      </TitledCard>
    </div>
  );
}

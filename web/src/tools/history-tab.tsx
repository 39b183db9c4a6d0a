import { useState } from "react";

import { Select } from "@/components/ui/select";
import { statusWords } from "@/components/ui/state-badges";
import { RunSearch } from "@/runs/run-search";
import { RunTable } from "@/runs/run-table";

/** The runs of one tool, searchable by what they were called with. */
export function HistoryTab({ tool }: { tool: string }) {
  const [text, setText] = useState("");
  const [status, setStatus] = useState("");
  return (
    <>
      <div className="mb-4 flex flex-wrap gap-2">
        <RunSearch text={text} onChange={setText} />
        <Select aria-label="Status" className="w-44 max-sm:w-full" value={status} onChange={(event) => setStatus(event.target.value)}>
          <option value="">Every status</option>
          {Object.entries(statusWords).map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </Select>
      </div>
      <RunTable
        filter={{ tool, status: status || undefined, text: text || undefined }}
        hideTool
        empty={text || status ? "No run of this tool fits." : "Runs of this tool appear here, with their input and result."}
      />
    </>
  );
}

import { useDeferredValue, useState } from "react";

import { SearchInput } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import { statusWords } from "@/components/ui/state-badges";
import { RunTable } from "@/runs/run-table";

/** The runs of one tool, searchable by what they were called with. */
export function HistoryTab({ tool }: { tool: string }) {
  const [text, setText] = useState("");
  const [status, setStatus] = useState("");
  const wanted = useDeferredValue(text.trim());
  return (
    <>
      <div className="mb-4 flex flex-wrap gap-2">
        <SearchInput
          label="Search the inputs"
          placeholder="Search the inputs"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="w-full max-w-[384px]"
        />
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
        filter={{ tool, status: status || undefined, text: wanted || undefined }}
        hideTool
        empty="Runs of this tool appear here, with their input and result."
      />
    </>
  );
}

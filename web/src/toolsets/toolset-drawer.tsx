import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { expecting } from "@/api/pages";
import { CopyButton } from "@/components/ui/copyable";
import { DocumentDrawer } from "@/components/ui/document-drawer";
import { DrawerSection } from "@/components/ui/drawer";
import { Words } from "@/components/ui/facts";
import { ChecksField, ChoiceField, LinesField, TextField } from "@/components/ui/fields";
import { effectWords } from "@/components/ui/state-badges";
import { counted } from "@/lib/format";
import { linesOf } from "@/lib/search";

import type { Toolset } from "./queries";

/** The effects a tool can have, to choose from. */
export const effectOptions = Object.entries(effectWords).map(([value, title]) => ({ value, title }));

/** Writes a toolset, and shows what it holds now. */
export function ToolsetDrawer({ toolset, onClose, again }: { toolset: Toolset | null; onClose: () => void; again?: () => void }) {
  const [name, setName] = useState(toolset?.name ?? "");
  const [title, setTitle] = useState(toolset?.title ?? "");
  const [description, setDescription] = useState(toolset?.description ?? "");
  const [tools, setTools] = useState(toolset?.tools.join("\n") ?? "");
  const [exclude, setExclude] = useState(toolset?.exclude.join("\n") ?? "");
  const [effects, setEffects] = useState(toolset?.effects ?? []);
  const [egress, setEgress] = useState(toolset?.egress ?? []);
  const [mode, setMode] = useState(toolset?.mode ?? "list");
  const path = { name };
  const address = `${window.location.origin}/mcp/${name}`;
  return (
    <DocumentDrawer
      title={toolset ? <span className="break-all font-mono text-lg">{toolset.name}</span> : "New toolset"}
      description="Tools that come later and fit are in it from then on."
      seen={toolset}
      again={again}
      ready={name.trim() !== "" && linesOf(tools).length > 0}
      queryKey={["toolsets"]}
      onClose={onClose}
      save={() =>
        unwrap(
          api.PUT("/api/v1/toolsets/{name}", {
            params: { path, header: expecting(toolset?.revision) },
            body: { title, description, tools: linesOf(tools), exclude: linesOf(exclude), effects, egress, mode },
          }),
        )
      }
      remove={
        toolset ? () => unwrap(api.DELETE("/api/v1/toolsets/{name}", { params: { path, header: expecting(toolset.revision) } })) : undefined
      }
    >
      {toolset ? (
        <>
          <DrawerSection title="What it holds now" aside={counted(toolset.tool_count, "tool")}>
            <Words words={toolset.tool_ids ?? []} none="None of your tools fits." most={60} />
          </DrawerSection>
          <DrawerSection title="Its address for MCP clients">
            <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1 pl-3 pr-1">
              <code className="min-w-0 flex-1 break-all font-mono text-xs">{address}</code>
              <CopyButton text={address} label="Copy the address" />
            </div>
          </DrawerSection>
        </>
      ) : (
        <TextField label="Name" hint="Lower-case letters, digits and dashes. It stands in the address." value={name} onChange={setName} maxLength={64} mono />
      )}
      <TextField label="What people call it" optional value={title} onChange={setTitle} maxLength={120} />
      <TextField label="What it is for" optional value={description} onChange={setDescription} maxLength={500} />
      <LinesField label="Tools" hint="One on each line: an id, or the start of ids and *, such as core__*." value={tools} onChange={setTools} />
      <LinesField label="Less these" optional value={exclude} onChange={setExclude} />
      <ChecksField label="Only those that" hint="None chosen means all." chosen={effects} onChange={setEffects} options={effectOptions} />
      <ChecksField
        label="Only those from which"
        hint="None chosen means all."
        chosen={egress}
        onChange={setEgress}
        options={[
          { value: "none", title: "Nothing leaves" },
          { value: "read_only", title: "Questions leave" },
          { value: "write", title: "Changes leave" },
        ]}
      />
      <ChoiceField
        label="How MCP clients find its tools"
        hint="Search offers three tools that find, describe and call the others: for large sets."
        value={mode}
        onChange={setMode}
        options={[
          { value: "list", title: "All are listed" },
          { value: "search", title: "By search" },
        ]}
      />
    </DocumentDrawer>
  );
}

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { DocumentDrawer } from "@/components/ui/document-drawer";
import { ChoiceField, TextField } from "@/components/ui/fields";
import { principalsQuery } from "@/principals/queries";
import { profilesQuery } from "@/profiles/queries";
import { registryQuery } from "@/registry/queries";
import { toolsetsQuery } from "@/toolsets/queries";

import type { Assignment } from "./queries";

/** Gives an agent a tool or a toolset, or takes it. */
export function AssignmentDrawer({ assignment, agent: given, onClose }: { assignment: Assignment | null; agent?: string; onClose: () => void }) {
  const [opened] = useState(assignment);
  const [agent, setAgent] = useState(opened?.agent ?? given ?? "");
  const [kind, setKind] = useState(opened?.tool ? "tool" : opened ? "toolset" : "tool");
  const [what, setWhat] = useState(opened?.tool ?? opened?.toolset ?? "");
  const [profile, setProfile] = useState(opened?.profile ?? "");
  const agents = useInfiniteQuery(principalsQuery("agent"));
  const profiles = useInfiniteQuery(profilesQuery);
  const toolsets = useInfiniteQuery(toolsetsQuery);
  const tools = useQuery(registryQuery);
  const named = kind === "tool" ? { tool: what.trim() } : { toolset: what.trim() };
  return (
    <DocumentDrawer
      title={opened ? <span className="break-all font-mono text-lg">{what}</span> : "Give tools"}
      description={opened ? `What ${opened.agent} has. Without it the next call is refused.` : "It can call them from the next moment on, as far as policy lets it."}
      seen={opened}
      ready={agent.trim() !== "" && what.trim() !== ""}
      queryKey={["assignments"]}
      onClose={onClose}
      saved={opened ? "Saved." : "Given."}
      save={() => unwrap(api.PUT("/api/v1/assignments", { body: { agent: agent.trim(), ...named, profile: profile.trim() || undefined } }))}
      remove={
        opened ? () => unwrap(api.DELETE("/api/v1/assignments", { params: { query: { agent: opened.agent, ...named } } })) : undefined
      }
      removeWords={{ title: "Take it…", sure: "Yes, take it from the agent", done: "Taken. Its next call is refused." }}
    >
      {opened ? null : (
        <>
          <TextField
            label="Agent"
            mono
            value={agent}
            onChange={setAgent}
            placeholder="agent:helper"
            suggestions={agents.data?.pages.flatMap((page) => page.principals.map((one) => one.id)) ?? []}
          />
          <ChoiceField
            label="What it gets"
            value={kind}
            onChange={(next) => {
              setKind(next);
              setWhat("");
            }}
            options={[
              { value: "tool", title: "One tool" },
              { value: "toolset", title: "A toolset" },
            ]}
          />
          <TextField
            key={kind}
            label={kind === "tool" ? "Tool" : "Toolset"}
            mono
            value={what}
            onChange={setWhat}
            suggestions={
              kind === "tool"
                ? (tools.data?.map((tool) => tool.id) ?? [])
                : (toolsets.data?.pages.flatMap((page) => page.toolsets.map((one) => one.name)) ?? [])
            }
          />
        </>
      )}
      <TextField
        label="Profile"
        hint="What makes its use stricter."
        optional
        mono
        value={profile}
        onChange={setProfile}
        suggestions={profiles.data?.pages.flatMap((page) => page.profiles.map((one) => one.name)) ?? []}
      />
    </DocumentDrawer>
  );
}

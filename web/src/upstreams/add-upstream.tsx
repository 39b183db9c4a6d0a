import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { api, type Schemas, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { Field, Input, Textarea } from "@/components/ui/input";
import { Segmented } from "@/components/ui/segmented";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { counted } from "@/lib/format";

type Kind = "http" | "stdio";

/** Writes a server down and looks at its tools. */
export function AddUpstream({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [kind, setKind] = useState<Kind>("http");
  const [name, setName] = useState("");
  const [title, setTitle] = useState("");
  const [url, setUrl] = useState("");
  const [command, setCommand] = useState("");
  const [args, setArgs] = useState("");
  const [auth, setAuth] = useState("none");
  const [questions, setQuestions] = useState("refuse");
  const add = useMutation({
    mutationFn: async () => {
      const transport: Schemas["TransportView"] =
        kind === "http"
          ? { kind, url: url.trim(), headers: {} }
          : { kind, command: command.trim(), args: args.split("\n").map((line) => line.trim()).filter(Boolean), env: {} };
      await unwrap(
        api.PUT("/api/v1/upstreams/{name}", {
          params: { path: { name }, header: { "If-None-Match": "*" } },
          body: { title, transport, enabled: true, auth, connect_timeout_ms: 30_000, concurrency: 16, questions },
        }),
      );
      // A server that has to be connected first can't be looked at yet; it is written all the same.
      return unwrap(api.POST("/api/v1/upstreams/{name}/refresh", { params: { path: { name } } })).catch(() => null);
    },
    onSuccess: (looked) => {
      toast(looked ? `Added. ${counted(looked.new.length, "tool")} to review.` : "Added. It did not answer yet: see its health.");
      void navigate({ to: "/upstreams", search: looked && looked.new.length > 0 ? { tab: "review" } : { server: name } });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["upstreams"] }),
  });
  const ready = /^[a-z0-9][a-z0-9_-]{0,23}$/.test(name) && (kind === "http" ? url.trim() !== "" : command.trim() !== "");
  return (
    <Drawer
      open
      onClose={onClose}
      title="Add an MCP server"
      description="It is written down and asked for its tools. None of them is on before it is reviewed."
      footer={
        <>
          <p className="min-w-0 flex-1 text-xs text-ink-3">
            {kind === "stdio" ? "The program runs on the gate’s machine, never by a shell." : "Addresses inside your network need the operator’s leave."}
          </p>
          <Button look="primary" disabled={!ready || add.isPending} onClick={() => add.mutate()}>
            {add.isPending ? "Connecting…" : "Add and look"}
          </Button>
        </>
      }
    >
      {add.isError ? <ErrorNote error={add.error} /> : null}
      <Field id="upstream-name" label="Name" hint="Stands in its tools’ ids, as in mcp__name__tool. Up to 24 letters, digits and dashes.">
        {(aria) => <Input {...aria} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" maxLength={24} />}
      </Field>
      <Field id="upstream-title" label="What people call it" optional>
        {(aria) => <Input {...aria} value={title} onChange={(event) => setTitle(event.target.value)} maxLength={120} />}
      </Field>
      <div>
        <p id="upstream-kind" className="mb-1.5 text-sm font-medium">
          How it is reached
        </p>
        <Segmented
          name="upstream-kind"
          labelledBy="upstream-kind"
          value={kind}
          onChange={(next) => setKind(next as Kind)}
          options={[
            { value: "http", title: "By its address" },
            { value: "stdio", title: "As a program" },
          ]}
        />
      </div>
      {kind === "http" ? (
        <Field id="upstream-url" label="Address" hint="Of its streamable HTTP endpoint, or of its stream of events where it is older.">
          {(aria) => (
            <Input {...aria} type="url" placeholder="https://mcp.example.com/mcp" value={url} onChange={(event) => setUrl(event.target.value)} />
          )}
        </Field>
      ) : (
        <>
          <Field id="upstream-command" label="Program" hint="A program in the gate’s path, or a full path.">
            {(aria) => <Input {...aria} className="font-mono text-xs" value={command} onChange={(event) => setCommand(event.target.value)} />}
          </Field>
          <Field id="upstream-args" label="Arguments" hint="One on each line, handed over as they are." optional>
            {(aria) => <Textarea {...aria} className="font-mono text-xs" value={args} onChange={(event) => setArgs(event.target.value)} />}
          </Field>
        </>
      )}
      <div>
        <p id="upstream-auth" className="text-sm font-medium">
          Whose account it uses
        </p>
        <p className="mb-1.5 text-xs text-ink-3">The caller’s own key or token is never passed on.</p>
        <Segmented
          name="upstream-auth"
          labelledBy="upstream-auth"
          value={auth}
          onChange={setAuth}
          options={[
            { value: "none", title: "None" },
            { value: "shared", title: "One for all" },
            { value: "per_user", title: "Each person’s own" },
          ]}
        />
      </div>
      <div>
        <p id="upstream-questions" className="text-sm font-medium">
          When it asks something in the middle of a call
        </p>
        <p className="mb-1.5 text-xs text-ink-3">Its words are shown as its own. Forms that are after passwords or tokens are always refused.</p>
        <Segmented
          name="upstream-questions"
          labelledBy="upstream-questions"
          value={questions}
          onChange={setQuestions}
          options={[
            { value: "refuse", title: "Refuse it" },
            { value: "ask", title: "Ask the person who calls" },
          ]}
        />
      </div>
    </Drawer>
  );
}

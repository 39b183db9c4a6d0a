import { ErrorSchemaBuilder } from "@rjsf/utils";
import { BookmarkPlus, Braces, FormInput, Play, RotateCcw, Trash2 } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { lazy, Suspense, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";

import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { menuItemLook, menuLook } from "@/components/ui/filter-menu";
import { Input, Kbd } from "@/components/ui/input";
import { Skeleton } from "@/components/ui/skeleton";
import { toast } from "@/components/ui/toast";
import { exampleOf } from "@/form/prepare";
import { cn } from "@/lib/cn";
import { formatDuration } from "@/lib/format";

import type { Tool } from "./queries";
import { useSaved } from "./saved";

const ToolForm = lazy(() => import("@/form/tool-form").then((module) => ({ default: module.ToolForm })));
const JsonEditor = lazy(() => import("@/components/ui/json-editor").then((module) => ({ default: module.JsonEditor })));

const mac = /Mac|iPhone|iPad/.test(navigator.platform);
const effects: Record<string, string> = {
  read: "Changes nothing",
  mutate: "Changes something",
  destructive: "Takes something away for good",
};

/** Whether a form would show anything at all. */
function hasFields(schema: unknown): boolean {
  const { properties, oneOf, anyOf, allOf, $ref } = (schema ?? {}) as Record<string, unknown>;
  return Boolean((properties && Object.keys(properties).length > 0) || oneOf || anyOf || allOf || $ref);
}

/** Whether it takes nothing at all. */
function takesNothing(schema: unknown): boolean {
  return !hasFields(schema) && (schema as { additionalProperties?: unknown } | null)?.additionalProperties === false;
}

/** What to run the tool with: as a form or as JSON, both the same input. */
export function InputPanel({ tool, who, input, onChange, onRun, busy, violations }: {
  tool: Tool;
  who: string;
  input: unknown;
  onChange: (input: unknown) => void;
  onRun: (input: unknown) => void;
  busy: boolean;
  violations: { path: string[]; message: string }[];
}) {
  const schema = tool.input_schema;
  const nothing = takesNothing(schema);
  const [mode, setMode] = useState<"form" | "json">(() => (hasFields(schema) || nothing ? "form" : "json"));
  const [text, setText] = useState(() => JSON.stringify(input ?? {}, null, 2));
  const [wrong, setWrong] = useState<string | null>(null);
  const form = useId();
  const frame = useFullHeight();
  const errors = useMemo(() => {
    const builder = new ErrorSchemaBuilder();
    for (const { path, message } of violations) builder.addErrors(message, path.length > 0 ? path : undefined);
    return builder.ErrorSchema;
  }, [violations]);

  const fill = (next: unknown) => {
    onChange(next);
    setText(JSON.stringify(next ?? {}, null, 2));
    setWrong(null);
  };
  const runJson = () => {
    const parsed = parse(text);
    if (parsed === undefined) return setWrong("This is not a JSON object.");
    setWrong(null);
    onChange(parsed);
    onRun(parsed);
  };
  const send = () => {
    if (busy) return;
    if (nothing) return onRun({});
    if (mode === "json") return runJson();
    (document.getElementById(form) as HTMLFormElement | null)?.requestSubmit();
  };
  const latest = useRef(send);
  latest.current = send;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !document.querySelector("[role=dialog]")) {
        event.preventDefault();
        latest.current();
      }
    };
    document.addEventListener("keydown", onKey, true);
    return () => document.removeEventListener("keydown", onKey, true);
  }, []);
  const swap = () => {
    if (mode === "form") {
      setText(JSON.stringify(input ?? {}, null, 2));
      setMode("json");
    } else {
      const parsed = parse(text);
      if (parsed === undefined) return setWrong("Mend the JSON first: the form can't show it like this.");
      setWrong(null);
      onChange(parsed);
      setMode("form");
    }
  };

  return (
    <section aria-label="Input" className="lg:sticky lg:top-[72px]">
      <div className="mb-2 flex h-8 items-center justify-between">
        <h2 className="text-sm font-semibold">Input</h2>
        {nothing ? null : (
          <div className="flex items-center">
            <InputMenu tool={tool} who={who} input={mode === "json" ? (parse(text) ?? input) : input} onFill={fill} />
            <Button look="quiet" size="sm" onClick={swap}>
              {mode === "form" ? <Braces aria-hidden /> : <FormInput aria-hidden />}
              {mode === "form" ? "JSON" : "Form"}
            </Button>
            <Button look="quiet" size="sm" onClick={() => fill(undefined)}>
              <RotateCcw aria-hidden />
              Reset
            </Button>
          </div>
        )}
      </div>
      <Card ref={frame} className="flex flex-col">
        <div
          className="relative min-h-0 flex-1 overflow-y-auto p-5 outline-offset-[-2px]"
          tabIndex={nothing ? undefined : 0}
          role="region"
          aria-label="Input fields"
        >
          {nothing ? (
            <p className="text-sm text-ink-3">This tool needs no input.</p>
          ) : mode === "form" ? (
            <Suspense fallback={<FormSkeleton />}>
              <ToolForm id={form} schema={schema} value={input} onChange={onChange} onSubmit={onRun} errors={errors} />
            </Suspense>
          ) : (
            <Suspense fallback={<Skeleton className="h-40" />}>
              <JsonEditor value={text} onChange={setText} label="Input as JSON" />
              {wrong || violations.length > 0 ? (
                <div role="alert" className="mt-2 text-xs text-danger-ink">
                  {wrong ?? violations.map((one) => <p key={one.path.join("/")}><code className="font-mono">/{one.path.join("/")}</code> {one.message}</p>)}
                </div>
              ) : null}
            </Suspense>
          )}
        </div>
        {/* Where the columns stack, the page scrolls and not the form: the button stays at the lower edge. */}
        <div className="rounded-b-xl border-t border-line bg-surface p-4 max-lg:sticky max-lg:bottom-0 max-lg:z-10">
          <Button look="primary" className="w-full" disabled={busy} onClick={send}>
            <Play aria-hidden />
            {busy ? "Running…" : "Run"}
            <span className="ml-1 flex gap-1 max-sm:hidden">
              <Kbd className="border-white/30 bg-white/15 text-white">{mac ? "⌘" : "Ctrl"}</Kbd>
              <Kbd className="border-white/30 bg-white/15 text-white">↵</Kbd>
            </span>
          </Button>
          <p className="mt-2 text-center text-xs text-ink-3">
            {effects[tool.effect] ?? tool.effect} · at most {formatDuration(tool.timeout_ms)}
            {tool.requires_approval ? " · asks a person first" : ""}
          </p>
        </div>
      </Card>
    </section>
  );
}

/** As high as fits below its top, so that the button at its end is always in sight. */
function useFullHeight() {
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const fit = () => {
      const element = frame.current;
      if (!element) return;
      const room = window.innerHeight - element.getBoundingClientRect().top - 24;
      element.style.maxHeight = window.innerWidth >= 1024 ? `${Math.max(320, room)}px` : "";
    };
    fit();
    window.addEventListener("scroll", fit, { passive: true });
    window.addEventListener("resize", fit);
    return () => {
      window.removeEventListener("scroll", fit);
      window.removeEventListener("resize", fit);
    };
  }, []);
  return frame;
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function FormSkeleton() {
  return (
    <div aria-busy className="space-y-5">
      {[1, 2, 3].map((row) => (
        <div key={row} className="space-y-2">
          <Skeleton className="h-4 w-28" />
          <Skeleton className="h-9" />
        </div>
      ))}
    </div>
  );
}

/** Inputs to begin with: the tool's own example, and what was saved before. */
function InputMenu({ tool, who, input, onFill }: { tool: Tool; who: string; input: unknown; onFill: (input: unknown) => void }) {
  const { saved, save, forget } = useSaved(who, tool.id);
  const [name, setName] = useState("");
  const example = exampleOf(tool.input_schema);
  const keep = () => {
    const called = name.trim() || `Saved ${new Date().toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })}`;
    save(called, input ?? {});
    setName("");
    toast(`Saved as “${called}”`);
  };
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button look="quiet" size="sm">
          <BookmarkPlus aria-hidden />
          Saved
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="start" sideOffset={6} className={cn(menuLook, "w-72")}>
          {example === undefined ? null : (
            <DropdownMenu.Item className={menuItemLook} onSelect={() => onFill(example)}>
              The tool’s own example
            </DropdownMenu.Item>
          )}
          {saved.map((one) => (
            <div key={one.name} className="flex items-center">
              <DropdownMenu.Item className={cn(menuItemLook, "min-w-0 flex-1")} onSelect={() => onFill(one.input)}>
                <span className="truncate">{one.name}</span>
              </DropdownMenu.Item>
              <DropdownMenu.Item
                aria-label={`Forget ${one.name}`}
                className={cn(menuItemLook, "text-ink-3")}
                onSelect={(event) => {
                  event.preventDefault();
                  forget(one.name);
                }}
              >
                <Trash2 aria-hidden className="size-4" />
              </DropdownMenu.Item>
            </div>
          ))}
          {example !== undefined || saved.length > 0 ? <DropdownMenu.Separator className="my-1 h-px bg-line" /> : null}
          <div className="flex gap-2 p-1">
            <Input
              aria-label="Name for this input"
              placeholder="Name for this input"
              className="h-8"
              value={name}
              onChange={(event) => setName(event.target.value)}
              onKeyDown={(event) => {
                event.stopPropagation();
                if (event.key === "Enter") keep();
              }}
            />
            <Button size="sm" onClick={keep}>
              Save
            </Button>
          </div>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

import { Download, ExternalLink, FileText } from "lucide-react";
import { lazy, Suspense, useState } from "react";

import { Button } from "@/components/ui/button";
import { JsonView } from "@/components/ui/json-view";
import { formatSize } from "@/files/size";
import { jsonIn } from "@/lib/json";
import { visible } from "@/lib/visible";

const Markdown = lazy(() => import("./markdown").then((module) => ({ default: module.Markdown })));

/** One part of a result, in the words of MCP. */
export type Block = Record<string, unknown> & { type: string };

/** Pictures that can't hold a script. */
const IMAGE = /^image\/(png|jpeg|gif|webp|avif)$/;
const AUDIO = /^audio\/[a-z0-9.+-]+$/;

const word = (block: Record<string, unknown>, key: string): string => (typeof block[key] === "string" ? (block[key] as string) : "");

/** A part by its kind: words, a picture, a sound, a file, a link. `plain` words keep their lines, as logs and traces want. */
export function BlockView({ block, plain = false }: { block: Block; plain?: boolean }) {
  switch (block.type) {
    case "text":
      return <Words text={word(block, "text")} plain={plain} />;
    case "data_image":
      return <Picture url={word(block, "url")} />;
    case "image":
    case "audio":
      return <Bytes data={word(block, "data")} mime={word(block, "mimeType")} name={`${block.type}${ending(word(block, "mimeType"))}`} title={word(block, "title")} />;
    case "resource_link":
      return (
        <p className="flex items-center gap-2 text-sm">
          <ExternalLink aria-hidden className="size-4 shrink-0 text-ink-3" />
          <span className="font-medium">{visible(word(block, "title") || word(block, "name"))}</span>
          {/* Written out, not a link: where a tool points is not for us to vouch for. */}
          <code className="break-all font-mono text-xs text-ink-3">{visible(word(block, "uri"))}</code>
        </p>
      );
    case "resource":
      if (typeof block.resource === "object" && block.resource !== null) return <Resource resource={block.resource as Record<string, unknown>} />;
      break;
    case "file":
    case "blob":
      if (word(block, "data")) return <FileBlock name={word(block, "name") || "result"} data={word(block, "data")} />;
      break;
    default:
      break;
  }
  return <JsonView value={block} label={block.type} />;
}

function Words({ text, plain }: { text: string; plain: boolean }) {
  const shown = visible(text);
  // Markdown would take the stars and underscores of a document for its own.
  const json = plain ? null : jsonIn(text);
  if (json?.exact) return <JsonView value={json.value} label="What it says" />;
  if (plain || json) return <Lines text={shown} label="What it says" />;
  return (
    <Suspense fallback={<p className="whitespace-pre-line text-base">{shown}</p>}>
      <Markdown text={shown} />
    </Suspense>
  );
}

function Lines({ text, label }: { text: string; label: string }) {
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-[480px] overflow-auto whitespace-pre-wrap break-words rounded-lg border border-line bg-sunken p-3.5 font-mono text-xs leading-[20px]"
    >
      {text}
    </pre>
  );
}

/** A file that came along: its words, its picture, or something to save, under the address it came with. */
function Resource({ resource }: { resource: Record<string, unknown> }) {
  const [uri, mime, text, blob] = ["uri", "mimeType", "text", "blob"].map((key) => word(resource, key)) as [string, string, string, string];
  return (
    <div className="space-y-2">
      <code className="block break-all font-mono text-xs text-ink-3">{visible(uri)}</code>
      {blob ? <Bytes data={blob} mime={mime} name={nameOf(uri)} title="" /> : <Lines text={visible(text)} label={nameOf(uri)} />}
    </div>
  );
}

/** Bytes as what a browser can show safely, or as a file to save. */
function Bytes({ data, mime, name, title }: { data: string; mime: string; name: string; title: string }) {
  if (IMAGE.test(mime)) return <Picture url={`data:${mime};base64,${standard(data)}`} title={title} />;
  if (AUDIO.test(mime)) return <audio controls src={`data:${mime};base64,${standard(data)}`} aria-label={title || "Sound"} className="max-w-full" />;
  return <FileBlock name={name} data={data} />;
}

function Picture({ url, title }: { url: string; title?: string }) {
  return <img src={url} alt={title || "Result"} className="max-h-[480px] max-w-full rounded-lg border border-line" />;
}

/** Base64 as browsers read it: some servers write it for addresses, or in lines. */
function standard(data: string): string {
  return data.replace(/\s/g, "").replace(/-/g, "+").replace(/_/g, "/");
}

/** What the name of a file of a kind ends with, as far as the kind says. */
function ending(mime: string): string {
  const kind = /^[a-z]+\/([a-z0-9]{2,8})\b/.exec(mime)?.[1];
  return kind ? `.${kind}` : "";
}

/** The last part of an address, as a name for a file. */
function nameOf(uri: string): string {
  const last = uri.split(/[?#]/)[0]!.split("/").findLast((part) => part !== "");
  return visible(last ?? "").slice(0, 120) || "result";
}

function FileBlock({ name, data }: { name: string; data: string }) {
  const plain = standard(data);
  const [broken, setBroken] = useState(false);
  const save = () => {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = Uint8Array.from(atob(plain), (letter) => letter.charCodeAt(0));
    } catch {
      return setBroken(true);
    }
    // Never a type that a browser would open here.
    const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <div className="flex items-center gap-3 rounded-lg border border-line p-3 text-sm">
      <FileText aria-hidden className="size-5 text-ink-3" />
      <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
      {broken ? <span role="alert" className="text-xs text-danger-ink">What the server sent is no file.</span> : null}
      <span className="text-xs text-ink-3">{formatSize(Math.floor((plain.replace(/=+$/, "").length * 3) / 4))}</span>
      <Button size="sm" aria-label={`Save ${name}`} onClick={save}>
        <Download aria-hidden />
        Save
      </Button>
    </div>
  );
}

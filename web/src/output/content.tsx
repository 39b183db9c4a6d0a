import { Download, ExternalLink, FileText } from "lucide-react";
import { lazy, Suspense } from "react";

import { Button } from "@/components/ui/button";
import { TitledCard } from "@/components/ui/card";
import { JsonView } from "@/components/ui/json-view";

const Markdown = lazy(() => import("./markdown").then((module) => ({ default: module.Markdown })));

type Block = Record<string, unknown> & { type: string };

/** Pictures that can't hold a script. */
const IMAGE = /^image\/(png|jpeg|gif|webp|avif)$/;
const DATA_IMAGE = /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/;

/** The content blocks of a result, in the words of MCP; none when it has none. */
export function contentOf(value: unknown): { blocks: Block[]; rest: unknown } | null {
  if (typeof value === "string") {
    return { blocks: [DATA_IMAGE.test(value) ? { type: "data_image", url: value } : { type: "text", text: value }], rest: undefined };
  }
  const result = value as { content?: unknown; structured?: unknown } | null;
  if (typeof result !== "object" || result === null || !Array.isArray(result.content)) return null;
  const blocks = result.content.filter((block): block is Block => typeof block === "object" && block !== null && typeof block.type === "string");
  return blocks.length === result.content.length ? { blocks, rest: result.structured } : null;
}

/** Text, pictures and files, one below the other. */
export function Contents({ blocks, rest }: { blocks: Block[]; rest: unknown }) {
  return (
    <TitledCard level={3} title="Result">
      <div className="space-y-4">
        {blocks.map((block, index) => (
          <BlockView key={index} block={block} />
        ))}
        {rest === undefined ? null : <JsonView value={rest} label="Structured result" />}
      </div>
    </TitledCard>
  );
}

function BlockView({ block }: { block: Block }) {
  const text = (key: string): string => (typeof block[key] === "string" ? (block[key] as string) : "");
  switch (block.type) {
    case "text":
      return (
        <Suspense fallback={<p className="whitespace-pre-line text-base">{text("text")}</p>}>
          <Markdown text={text("text")} />
        </Suspense>
      );
    case "data_image":
      return <img src={text("url")} alt="Result" className="max-h-[480px] max-w-full rounded-lg border border-line" />;
    case "image":
      if (IMAGE.test(text("mimeType"))) {
        return (
          <img
            src={`data:${text("mimeType")};base64,${text("data")}`}
            alt={text("title") || "Result"}
            className="max-h-[480px] max-w-full rounded-lg border border-line"
          />
        );
      }
      break;
    case "resource_link":
      return (
        <p className="flex items-center gap-2 text-sm">
          <ExternalLink aria-hidden className="size-4 text-ink-3" />
          <span className="font-medium">{text("title") || text("name")}</span>
          {/* Written out, not a link: where a tool points is not for us to vouch for. */}
          <code className="break-all font-mono text-xs text-ink-3">{text("uri")}</code>
        </p>
      );
    case "file":
    case "blob":
      if (text("data")) return <FileBlock name={text("name") || "result"} data={text("data")} />;
      break;
    default:
      break;
  }
  return <JsonView value={block} label={block.type} />;
}

function FileBlock({ name, data }: { name: string; data: string }) {
  const save = () => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
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
      <Button size="sm" onClick={save}>
        <Download aria-hidden />
        Save
      </Button>
    </div>
  );
}

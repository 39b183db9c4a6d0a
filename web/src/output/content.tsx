import { Card } from "@/components/ui/card";
import { JsonView } from "@/components/ui/json-view";
import { jsonIn, stable } from "@/lib/json";

import { type Block, BlockView } from "./block";

const DATA_IMAGE = /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/;

/** The content blocks of a result, in the words of MCP; none when it has none. */
export function contentOf(value: unknown): { blocks: Block[]; rest: unknown } | null {
  if (typeof value === "string") {
    return { blocks: [DATA_IMAGE.test(value) ? { type: "data_image", url: value } : { type: "text", text: value }], rest: undefined };
  }
  const result = value as { content?: unknown; structured?: unknown } | null;
  if (typeof result !== "object" || result === null) return null;
  const blocks = blocksOf(result.content);
  return blocks ? { blocks, rest: result.structured } : null;
}

/** A list of content blocks, if that is what it is. */
export function blocksOf(content: unknown): Block[] | null {
  if (!Array.isArray(content)) return null;
  const isBlock = (block: unknown): block is Block => typeof block === "object" && block !== null && typeof (block as Block).type === "string";
  return content.every(isBlock) ? content : null;
}

/** Text, pictures, sounds and files, one below the other, and what came as a structure. */
export function Contents({ blocks, rest }: { blocks: Block[]; rest: unknown }) {
  return (
    <Card className="min-w-0 p-5">
      <Told blocks={blocks} rest={rest} />
    </Card>
  );
}

/** What a run returned, as it was kept: JSON, and what MCP servers told in words, pictures and files as what it is. */
export function Returned({ run, label }: { run: { output?: unknown; content?: unknown }; label: string }) {
  const beside = blocksOf(run.content);
  const found = beside ? { blocks: beside, rest: run.output } : typeof run.output === "object" ? contentOf(run.output) : null;
  return found ? <Told {...found} /> : <JsonView value={run.output} label={label} />;
}

function Told({ blocks, rest }: { blocks: Block[]; rest: unknown }) {
  return (
    <div className="space-y-4">
      <Blocks blocks={blocks.filter((block) => !repeats(block, rest))} />
      {blocks.length === 0 && rest === undefined ? <p className="text-sm text-ink-3">It returned nothing.</p> : null}
      {rest === undefined ? null : <JsonView value={rest} label="Structured result" />}
    </div>
  );
}

/** Many servers say their structure once more as a text, for clients that read nothing else. */
function repeats(block: Block, rest: unknown): boolean {
  if (rest === undefined || block.type !== "text" || typeof block.text !== "string") return false;
  const said = jsonIn(block.text);
  return said !== null && stable(said.value) === stable(rest);
}

/** Blocks alone. */
export function Blocks({ blocks, plain }: { blocks: Block[]; plain?: boolean }) {
  return blocks.map((block, index) => <BlockView key={index} block={block} plain={plain} />);
}

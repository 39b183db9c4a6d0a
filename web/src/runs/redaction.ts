import type { Tool } from "@/tools/queries";

type Node = { properties?: Record<string, unknown>; items?: unknown };

/** The fields that the tool promises and the result lacks: what redaction took out, as far as the contract can tell. */
export function hiddenFields(tool: Pick<Tool, "output_schema" | "redaction_allow"> | undefined, output: unknown): string[] {
  if (!tool || tool.redaction_allow.includes("*")) return [];
  const found: string[] = [];
  look(tool.output_schema as Node, output, "", found, 0);
  return found;
}

function look(schema: Node | undefined, value: unknown, path: string, found: string[], depth: number): void {
  if (depth > 6 || found.length >= 50) return;
  if (Array.isArray(value)) return look(schema?.items as Node | undefined, value[0], path === "" ? "*" : `${path}.*`, found, depth + 1);
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(schema?.properties ?? {})) {
    const here = path === "" ? name : `${path}.${name}`;
    if (!(name in value)) found.push(here);
    else look(part as Node, (value as Record<string, unknown>)[name], here, found, depth + 1);
  }
}

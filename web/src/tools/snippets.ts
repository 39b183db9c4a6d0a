/** The ways to make the same call elsewhere. */
export const snippetKinds = { curl: "curl", cli: "Command line", mcp: "MCP request", sdk: "JavaScript" } as const;
export type SnippetKind = keyof typeof snippetKinds;

/** In single quotes for a shell, whatever it holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The call as a text to paste. Keys are never in it: only the name of the variable that holds one. */
export function snippet(kind: SnippetKind, origin: string, tool: string, input: unknown): string {
  const url = `${origin}/api/v1/tools/${tool}/invoke`;
  const compact = JSON.stringify(input ?? {});
  const pretty = JSON.stringify(input ?? {}, null, 2);
  switch (kind) {
    case "curl":
      return [
        `curl ${quoted(url)} \\`,
        `  -H "Authorization: Bearer $TOOLGATE_KEY" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d ${quoted(JSON.stringify({ input: input ?? {} }))}`,
      ].join("\n");
    case "cli":
      return `toolgate --url ${quoted(origin)} tool invoke --input ${quoted(compact)} ${tool}`;
    case "mcp":
      return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: input ?? {} } }, null, 2);
    case "sdk":
      return `const answer = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: {
    authorization: \`Bearer \${process.env.TOOLGATE_KEY}\`,
    "content-type": "application/json",
  },
  body: JSON.stringify({ input: ${pretty.replaceAll("\n", "\n  ")} }),
});
const { ok, value, error } = await answer.json();`;
  }
}

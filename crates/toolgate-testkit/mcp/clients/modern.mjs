// A client of the stateless era: the TypeScript SDK 2.x, told to speak 2026-07-28 and nothing else. The same plan and
// the same report as `legacy.mjs`.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const plan = JSON.parse(process.argv[2]);
const transport = plan.command
  ? new StdioClientTransport({ command: plan.command, args: plan.args, env: plan.env })
  : new StreamableHTTPClientTransport(new URL(plan.url), {
      requestInit: { headers: { authorization: `Bearer ${plan.key}` } },
    });
const client = new Client(
  { name: "modern", version: "1" },
  {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    capabilities: plan.fill ? { elicitation: { form: {} } } : {},
  },
);
const asked = [];
if (plan.fill) {
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params);
    return { action: "accept", content: plan.fill };
  });
}
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of plan.calls) {
  results.push(await client.callTool(call).catch((error) => ({ thrown: error.message, code: error.code })));
}
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion()?.name, tools, asked, results }));

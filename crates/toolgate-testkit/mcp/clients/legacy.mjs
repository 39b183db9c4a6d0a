// A client of the handshake era: the TypeScript SDK 1.x, which most hosts still use. Takes a plan as JSON and prints
// what it saw as JSON: { url, key } or { command, args, env }, the calls to make, and what its person fills in when
// asked, if anything.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const plan = JSON.parse(process.argv[2]);
const transport = plan.command
  ? new StdioClientTransport({ command: plan.command, args: plan.args, env: plan.env })
  : new StreamableHTTPClientTransport(new URL(plan.url), {
      requestInit: { headers: { authorization: `Bearer ${plan.key}` } },
    });
const client = new Client({ name: "legacy", version: "1" }, { capabilities: plan.fill ? { elicitation: {} } : {} });
const asked = [];
if (plan.fill) {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params);
    return { action: "accept", content: plan.fill };
  });
}
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of plan.calls) {
  // The SDK checks structured content against the tool's output schema itself and throws where it does not fit.
  results.push(await client.callTool(call).catch((error) => ({ thrown: error.message, code: error.code })));
}
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion()?.name, tools, asked, results }));

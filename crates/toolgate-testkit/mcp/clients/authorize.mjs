// A desktop application as most hosts build one: the TypeScript SDK 1.x finds out by itself where to sign in, sends its
// person to a browser, exchanges the code, calls a tool, and refreshes a token that does not work any more. Takes a plan
// as JSON and prints what it saw as JSON: { url, client_id?, invite, password, call }. Without `client_id` it registers.
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const plan = JSON.parse(process.argv[2]);
const home = new URL(plan.url).origin;
const seen = { scopes: [], refreshed: false };

// The person's browser: follows the link, decides on the page, and is sent back with a code.
let cookie = "";
async function visit(path, form) {
  const answer = await fetch(new URL(path, home), {
    method: form ? "POST" : "GET",
    redirect: "manual",
    headers: { cookie, ...(form && { origin: home, "content-type": "application/x-www-form-urlencoded" }) },
    body: form && new URLSearchParams(form).toString(),
  });
  for (const set of answer.headers.getSetCookie()) cookie = set.split(";")[0];
  return answer;
}
async function consent(url) {
  const token = new URL(plan.invite).searchParams.get("token");
  if (!cookie) await visit("/invite", { token, title: "Ada", password: plan.password });
  const page = await (await visit(url.pathname + url.search)).text();
  const field = (name) =>
    page.match(new RegExp(`name="${name}" value="([^"]*)"`))[1].replaceAll("&amp;", "&").replaceAll("&#39;", "'");
  const form = { csrf: field("csrf"), request: field("request"), scope: "tools", decision: "allow" };
  const back = new URL((await visit("/oauth/authorize", form)).headers.get("location"));
  seen.state = back.searchParams.get("state") === url.searchParams.get("state");
  seen.issuer = back.searchParams.get("iss") === home;
  seen.resource = url.searchParams.get("resource");
  return back.searchParams.get("code");
}

let information = plan.client_id ? { client_id: plan.client_id } : undefined;
let tokens, verifier, code;
const provider = {
  redirectUrl: "http://127.0.0.1:43117/callback",
  clientMetadata: {
    client_name: "Desktop",
    redirect_uris: ["http://127.0.0.1:43117/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "of the desktop",
  clientInformation: () => information,
  saveClientInformation: (registered) => (information = registered),
  tokens: () => tokens,
  saveTokens: (given) => {
    seen.scopes.push(given.scope);
    seen.refreshed = tokens !== undefined && tokens.refresh_token !== given.refresh_token;
    tokens = given;
  },
  redirectToAuthorization: async (url) => (code = await consent(url)),
  saveCodeVerifier: (made) => (verifier = made),
  codeVerifier: () => verifier,
};

async function connect() {
  const transport = new StreamableHTTPClientTransport(new URL(plan.url), { authProvider: provider });
  const client = new Client({ name: "desktop", version: "1" });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(code);
    return connect();
  }
}

const client = await connect();
const result = await client.callTool(plan.call);
await client.close();
// As if an hour had gone by.
tokens = { ...tokens, access_token: `tgo_${"0".repeat(64)}` };
const again = await connect();
const listed = await again.listTools();
await again.close();
console.log(JSON.stringify({ ...seen, result, tools: listed.tools.length, registered: information.client_id }));

// A real authorization server (oidc-provider) and, beside it, an MCP server that lets in only who brings one of its
// tokens: signed by it, made for this server, and not over. Its tool `whoami` answers whose token it was.
//
//   POST /test/settings        { "ttl": seconds }   how long tokens last from now on
//   PUT  /test/tokens/<token>  sub                  a token that the MCP server takes as it is, for a person
//   POST /test/revoke                               no token and no refresh is worth anything any more
//   GET  /test/seen                                 what the MCP server was sent, and how often tokens were refreshed
//   POST /interaction/<uid>    login=<sub>          signs a person in; "cancel" refuses
//
// Says on standard output where the two are, and ends when standard input does.

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { importJWK, jwtVerify } from 'jose';
import { Provider } from 'oidc-provider';

// Standard output is for two addresses; what the provider has to say would come after nobody reads any more.
console.info = console.error;

const settings = { ttl: 3600 };
const given = new Map();
const seen = [];
let refreshes = 0;
let key;
let issuer;
let resource;
let provider;

/** What the authorization server remembers, by kind and id. */
const kept = new Map();

class Memory {
  constructor(kind) { this.kind = kind; }
  place(id) { return `${this.kind}:${id}`; }
  async upsert(id, payload) { kept.set(this.place(id), payload); }
  async find(id) { return kept.get(this.place(id)); }
  async findByUid(uid) {
    return [...kept].find(([place, payload]) => place.startsWith(`${this.kind}:`) && payload.uid === uid)?.[1];
  }
  async findByUserCode() { return undefined; }
  async consume(id) { Object.assign(kept.get(this.place(id)) ?? {}, { consumed: Math.floor(Date.now() / 1000) }); }
  async destroy(id) { kept.delete(this.place(id)); }
  async revokeByGrantId(grantId) {
    for (const [place, payload] of kept) if (payload.grantId === grantId) kept.delete(place);
  }
}

function start() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
  provider = new Provider(issuer, {
    adapter: Memory,
    jwks: { keys: [key] },
    cookies: { keys: ['only for tests'] },
    scopes: ['openid', 'offline_access', 'tools'],
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    issueRefreshToken: async () => true,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'tools',
          audience: resource,
          accessTokenTTL: settings.ttl,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    async loadExistingGrant(ctx) {
      const { client, session } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid offline_access tools');
      grant.addResourceScope(resource, 'tools');
      await grant.save();
      return grant;
    },
  });
  provider.on('grant.success', (ctx) => {
    if (ctx.oidc.params.grant_type === 'refresh_token') refreshes += 1;
  });
}

async function read(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

async function person(request) {
  const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  if (given.has(token)) return given.get(token);
  try {
    const { payload } = await jwtVerify(token, await importJWK(key, 'RS256'), { issuer, audience: resource });
    return payload.sub;
  } catch {
    return undefined;
  }
}

const tool = {
  name: 'whoami',
  description: 'Says whose token the call came with.',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: { type: 'object', properties: { sub: { type: 'string' } }, required: ['sub'] },
};

function result(method, sub) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'resource', version: '1' },
      };
    case 'tools/list': return { tools: [tool] };
    case 'tools/call': return { content: [{ type: 'text', text: sub }], structuredContent: { sub } };
    case 'ping': return {};
    default: return undefined;
  }
}

async function mcp(request, response) {
  const json = (status, body) => response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(body === undefined ? undefined : JSON.stringify(body));
  const path = new URL(request.url, resource).pathname;
  if (path === '/.well-known/oauth-protected-resource/mcp') {
    return json(200, { resource, authorization_servers: [issuer], scopes_supported: ['tools'] });
  }
  if (path !== '/mcp') return json(404, {});
  const text = await read(request);
  const message = text ? JSON.parse(text) : {};
  seen.push({ http: request.method, method: message.method, headers: request.headers, body: text });
  const sub = await person(request);
  if (sub === undefined) {
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', resource);
    response.setHeader('www-authenticate', `Bearer resource_metadata="${metadata}", scope="tools"`);
    return json(401, { error: 'no' });
  }
  if (request.method !== 'POST') return json(405, {});
  if (message.id === undefined) return json(202);
  const answer = result(message.method, sub);
  if (answer === undefined) {
    return json(200, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'unknown' } });
  }
  return json(200, { jsonrpc: '2.0', id: message.id, result: answer });
}

async function login(request, response) {
  const url = new URL(request.url, issuer);
  const done = (status, text = '') => response.writeHead(status).end(text);
  if (url.pathname === '/test/settings') {
    Object.assign(settings, JSON.parse(await read(request)));
    return done(204);
  }
  if (url.pathname.startsWith('/test/tokens/')) {
    given.set(decodeURIComponent(url.pathname.slice('/test/tokens/'.length)), await read(request));
    return done(204);
  }
  if (url.pathname === '/test/revoke') {
    given.clear();
    for (const place of kept.keys()) if (!place.startsWith('Client:')) kept.delete(place);
    start();
    return done(204);
  }
  if (url.pathname === '/test/seen') return done(200, JSON.stringify({ requests: seen, refreshes }));
  if (request.method === 'POST' && url.pathname.startsWith('/interaction/')) {
    const who = new URLSearchParams(await read(request)).get('login');
    const outcome = who === 'cancel' ? { error: 'access_denied' } : { login: { accountId: who } };
    return provider.interactionFinished(request, response, outcome, { mergeWithLastSubmission: false });
  }
  return provider.callback()(request, response);
}

function listen(answer) {
  const server = createServer((request, response) => {
    answer(request, response).catch((cause) => {
      console.error(cause);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  return new Promise((ready) => {
    server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${server.address().port}`));
  });
}

issuer = await listen(login);
resource = `${await listen(mcp)}/mcp`;
start();
console.log(issuer);
console.log(resource);
process.stdin.resume().on('end', () => process.exit());

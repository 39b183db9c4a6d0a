// A real OpenID Connect provider for tests: oidc-provider, with people and faults that tests set by HTTP.
//
//   PUT  /test/people/<sub>  { "email": …, "groups": […] }   what the provider says of a person
//   POST /test/settings      { "in_id_token": bool }         claims in the ID token, or only at userinfo
//                            { "tamper": "nonce" | … | null } spoils ID tokens on their way out
//   POST /test/rotate                                         new signing key; the old one is forgotten
//   POST /interaction/<uid>  login=<sub>                      signs a person in; "cancel" refuses
//
// Says on standard output where it is, and ends when standard input does.

import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { importJWK, SignJWT, decodeJwt } from 'jose';
import { Provider } from 'oidc-provider';

const people = new Map();
const settings = { in_id_token: true, tamper: null };
let issuer;
let key;
let provider;

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
}

function start() {
  provider = new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [
      { client_id: 'toolgate', client_secret: 'a secret & a half', redirect_uris: ['http://127.0.0.1/'] },
      { client_id: 'toolgate-public', token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/'] },
    ],
    cookies: { keys: ['only for tests'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
      groups: ['groups'],
    },
    conformIdTokenClaims: !settings.in_id_token,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 600, Session: 600, Grant: 600 },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
    async loadExistingGrant(ctx) {
      const { client, session } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  });
  // Gates of tests listen on any port.
  provider.Client.prototype.redirectUriAllowed = (uri) => new URL(uri).hostname === '127.0.0.1';
}

async function read(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

const sign = async (claims, header, jwk) => new SignJWT(claims).setProtectedHeader(header).sign(await importJWK(jwk, 'RS256'));
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function spoil(token) {
  const claims = decodeJwt(token);
  const header = { alg: 'RS256', kid: key.kid };
  switch (settings.tamper) {
    case 'nonce': return sign({ ...claims, nonce: 'another' }, header, key);
    case 'audience': return sign({ ...claims, aud: 'another' }, header, key);
    case 'audiences': return sign({ ...claims, aud: [claims.aud, 'another'] }, header, key);
    case 'issuer': return sign({ ...claims, iss: 'http://127.0.0.1:1' }, header, key);
    case 'expired': return sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 60 }, header, key);
    case 'no_nonce': return sign({ ...claims, nonce: undefined }, header, key);
    // Signed by someone else under the name of the real key.
    case 'signature': return sign(claims, header, { ...newKey(), kid: key.kid });
    case 'unknown_key': { const other = newKey(); return sign(claims, { alg: 'RS256', kid: other.kid }, other); }
    case 'claims': { const [head, , tail] = token.split('.'); return `${head}.${part({ ...claims, sub: 'chief' })}.${tail}`; }
    case 'none': return `${part({ alg: 'none' })}.${part(claims)}.`;
    // Signed with what both sides know.
    case 'hmac': {
      const body = `${part({ alg: 'HS256' })}.${part(claims)}`;
      return `${body}.${createHmac('sha256', 'a secret & a half').update(body).digest('base64url')}`;
    }
    case 'missing': return undefined;
    default: return token;
  }
}

function spoilTokens(response) {
  const end = response.end.bind(response);
  response.end = (chunk) => {
    const body = JSON.parse(chunk);
    spoil(body.id_token).then((id_token) => {
      const text = JSON.stringify({ ...body, id_token });
      response.setHeader('content-length', Buffer.byteLength(text));
      end(text);
    });
    return response;
  };
}

async function answer(request, response) {
  const url = new URL(request.url, issuer);
  const done = (status, text = '') => response.writeHead(status).end(text);
  if (request.method === 'PUT' && url.pathname.startsWith('/test/people/')) {
    people.set(decodeURIComponent(url.pathname.slice('/test/people/'.length)), JSON.parse(await read(request)));
    return done(204);
  }
  if (url.pathname === '/test/settings') {
    Object.assign(settings, JSON.parse(await read(request)));
    start();
    return done(204);
  }
  if (url.pathname === '/test/rotate') {
    key = newKey();
    start();
    return done(204);
  }
  if (request.method === 'POST' && url.pathname.startsWith('/interaction/')) {
    const login = new URLSearchParams(await read(request)).get('login');
    const result = login === 'cancel' ? { error: 'access_denied' } : { login: { accountId: login } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
  if (url.pathname === '/token' && settings.tamper) spoilTokens(response);
  return provider.callback()(request, response);
}

const server = createServer((request, response) => {
  answer(request, response).catch((cause) => {
    console.error(cause);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  key = newKey();
  start();
  console.log(issuer);
});
process.stdin.resume().on('end', () => process.exit());

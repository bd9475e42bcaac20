// What `quern/accounts` exports.
export type { Accounts, AccountsOptions, Arrival } from './accounts.js';
export { createAccounts } from './accounts.js';
export type { ClientOptions } from './client.js';
export { AccountsClient, AccountsError } from './client.js';
export type { Identity } from './identity/identities.js';
export type { Caller } from './identity/sessions.js';
export { fastifyPlugin } from './mounts/fastify.js';
export type { Wanted } from './mounts/guards.js';
export { expressGuard, refusalOf } from './mounts/guards.js';
export { honoMiddleware } from './mounts/hono.js';
export { nodeHandler } from './mounts/node.js';
export { mountOnUws } from './mounts/uws.js';

import type { ToolServers } from '../../runtime/mcp/tool-servers.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import type { ApproveQuery } from '../../schemas/generated/core/tool-servers.js';
import { type ProjectPlace, placeOf } from './place.js';

const SERVERS = '/v1/projects/{namespace}/{project}/mcp/servers';
/** Not the tag of the operations that models are offered as tools: no model approves its own servers. */
const tag = 'tool servers';

/** What the endpoints of tool servers work on; opened at first use. */
export interface ToolServersContext {
  readonly toolServers: ToolServers;
}

type ServerPlace = [...ProjectPlace, server: string];

const serverPlace = (request: Request): ServerPlace => [...placeOf(request), request.params.server!];

/** The tool servers of projects: what they are, whether they may run, and what they have beside tools. */
export const toolServerEndpoints: Endpoint<ToolServersContext>[] = [
  endpoint<ToolServersContext>({
    method: 'GET',
    path: SERVERS,
    id: 'mcp_servers_list',
    access: 'writers',
    summary: 'List the tool servers of a project with their states and tools',
    tag,
    response: 'core/tool-servers#ServerList',
    handler: async ({ toolServers }, request) => ({ json: { servers: await toolServers.list(...placeOf(request)) } }),
  }),
  endpoint<ToolServersContext>({
    method: 'POST',
    path: `${SERVERS}/{server}/restart`,
    id: 'mcp_server_restart',
    access: 'writers',
    summary: 'Start a tool server anew',
    tag,
    response: 'core/tool-servers#Server',
    handler: async ({ toolServers }, request) => ({ json: await toolServers.restart(...serverPlace(request), request.signal) }),
  }),
  endpoint<ToolServersContext>({
    method: 'POST',
    path: `${SERVERS}/{server}/approve`,
    id: 'mcp_server_approve',
    access: 'admins',
    summary: 'Let a tool server run whose settings came over HTTP, and start it',
    tag,
    query: 'core/tool-servers#ApproveQuery',
    response: 'core/tool-servers#Server',
    handler: async ({ toolServers }, request) => {
      const { fingerprint } = request.query as ApproveQuery;
      return { json: await toolServers.approve(...serverPlace(request), fingerprint, request.signal) };
    },
  }),
  endpoint<ToolServersContext>({
    method: 'POST',
    path: `${SERVERS}/{server}/revoke`,
    id: 'mcp_server_revoke',
    access: 'admins',
    summary: 'End a tool server and let it run no more until it is approved',
    tag,
    response: 'core/tool-servers#Server',
    handler: async ({ toolServers }, request) => ({ json: await toolServers.revoke(...serverPlace(request)) }),
  }),
  endpoint<ToolServersContext>({
    method: 'GET',
    path: `${SERVERS}/{server}/resources`,
    id: 'mcp_server_resources',
    access: 'writers',
    summary: 'List the resources of a tool server',
    tag,
    response: 'core/tool-servers#ResourceList',
    handler: async ({ toolServers }, request) => ({ json: await toolServers.resources(...serverPlace(request), request.signal) }),
  }),
  endpoint<ToolServersContext>({
    method: 'GET',
    path: `${SERVERS}/{server}/prompts`,
    id: 'mcp_server_prompts',
    access: 'writers',
    summary: 'List the prompts of a tool server',
    tag,
    response: 'core/tool-servers#PromptList',
    handler: async ({ toolServers }, request) => ({ json: await toolServers.prompts(...serverPlace(request), request.signal) }),
  }),
];

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** What the official clients have in common, as far as tests need it. */
export interface McpClient {
  listTools(
    params?: object,
  ): Promise<{ tools: { name: string; inputSchema: Record<string, unknown>; annotations?: Record<string, unknown> }[] }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }, options?: CallOptions): Promise<ToolAnswer>;
  listResources(params?: {
    cursor?: string;
  }): Promise<{ resources: { uri: string; name: string; mimeType?: string }[]; nextCursor?: string }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: { uri: string; mimeType?: string; text?: string }[] }>;
  listPrompts(params?: {
    cursor?: string;
  }): Promise<{ prompts: { name: string; arguments?: { name: string; required?: boolean }[] }[]; nextCursor?: string }>;
  getPrompt(params: {
    name: string;
    arguments?: Record<string, string>;
  }): Promise<{ messages: { role: string; content: { text?: string } }[] }>;
  complete(params: object): Promise<{ completion: { values: string[] } }>;
  getServerVersion(): { name: string } | undefined;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

/** What goes with a call. */
export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (step: { progress: number; total?: number; message?: string }) => void;
}

/** The result of a tool. */
export interface ToolAnswer {
  content: { type: string; text: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  structuredContent?: any;
  isError?: boolean;
}

const ABOUT = { name: 'test', version: '1.0.0' };

/** A transport over HTTP that asks by `fetch`. */
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The official clients in the ways in which they agree on a revision; each connects to an endpoint, over HTTP unless it is given a transport. */
export const MCP_CLIENTS: Readonly<Record<string, (url: URL, fetch?: Fetch) => Promise<McpClient>>> = {
  'the client of SDK 1': async (url, fetch) => {
    const client = new FirstClient(ABOUT);
    await client.connect(new FirstTransport(url, fetch ? { fetch } : {}) as Parameters<typeof client.connect>[0]);
    const callTool = client.callTool.bind(client);
    return Object.assign(client, {
      callTool: (call: Parameters<typeof callTool>[0], options?: CallOptions) => callTool(call, undefined, options as object),
    }) as unknown as McpClient;
  },
  'the client of SDK 2 as it comes': async (url, fetch) => {
    const client = new Client(ABOUT);
    await client.connect(new StreamableHTTPClientTransport(url, fetch ? { fetch } : {}));
    return client as unknown as McpClient;
  },
  'the client of SDK 2 that asks for 2026': async (url, fetch) => {
    const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(url, fetch ? { fetch } : {}));
    return client as unknown as McpClient;
  },
};

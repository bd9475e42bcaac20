// One part after the other: all at once would hold the event loop for more than 50 ms.
await import('zod/v4');
await import('@modelcontextprotocol/server/_shims');

/** What is used of the reference server. To be imported late, since its code takes a tenth of a second to load. */
export const { createMcpHandler, ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } = await import(
  '@modelcontextprotocol/server'
);

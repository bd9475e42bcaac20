import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const WEB = join(import.meta.dirname, '..', '..', '..', '..', 'web');

interface Vite {
  createServer(options: object): Promise<{ ssrLoadModule(path: string): Promise<unknown>; close(): Promise<void> }>;
}

/** A module of the web interface that needs no page, such as `/src/lib/format.ts`, loaded here as it is compiled for browsers. */
export async function webModule<Module>(path: string): Promise<Module> {
  const { createServer } = (await import(pathToFileURL(join(WEB, 'node_modules/vite/dist/node/index.js')).href)) as Vite;
  const server = await createServer({
    root: WEB,
    configFile: false,
    appType: 'custom',
    logLevel: 'error',
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    return (await server.ssrLoadModule(path)) as Module;
  } finally {
    await server.close();
  }
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const BUILT = join(import.meta.dirname, '../build/web');
const TEXT = /\.(?:html|js|css|svg)$/;

/** Puts a compressed copy beside each text file, so that the daemon compresses nothing. */
function compressed(): Plugin {
  return {
    name: 'compressed copies',
    closeBundle() {
      for (const name of readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((one) => TEXT.test(one))) {
        const path = join(BUILT, name);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
      }
    },
  };
}

/** The daemon serves these files at `/`; during `vite` the API is asked of a daemon on its usual port. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte(), compressed()],
  build: {
    outDir: BUILT,
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no inline scripts and no fonts from data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(['/v1', '/api', '/health', '/info', '/openapi.json'].map((path) => [path, 'http://127.0.0.1:14345'])),
  },
});

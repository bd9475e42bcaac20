import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, it } from 'node:test';
import { coreEndpoints } from '../gateway/core/index.js';
import { universalEndpoints } from '../gateway/universal/index.js';

// The compiled test lies in build/test; the rules are about the sources beside build.
const ROOT = join(import.meta.dirname, '..', '..');
const LAYERS = ['schemas', 'native', 'runtime', 'gateway', 'cli'];
/** Tiers inside runtime: a file imports its own folder and lower tiers. */
const TIERS: Record<string, number> = {
  'log.ts': -1, 'loop.ts': -1, 'gate.ts': -1, 'inside.ts': -1, store: 0, config: 0, net: 0, pictures: 0.5,
  hosts: 1, documents: 1.1, tasks: 1.2, engines: 1.3, models: 1.6, hub: 1.7,
  completions: 2, encoders: 2, 'kv-cache': 2.5, images: 2.5,
  providers: 3,
  rag: 3.5, files: 3.6, vision: 3.8, ml: 3.8, speech: 3.8,
  projects: 4, chat: 5, library: 5,
  'runtime.ts': 6, 'open-vision.ts': 6.5, 'open-encoders.ts': 6.4, 'open-kv-cache.ts': 6.4, 'open-anomaly.ts': 6.4, 'open-columns.ts': 6.4, 'open-classifiers.ts': 6.4, 'open-retrieval.ts': 6.5, 'open.ts': 7,
}; // biome-ignore format: one tier a line
/** Where each third-party package may be imported. */
const DOORS: Record<string, RegExp> = {
  '@fastify/busboy': /^gateway\/http\/multipart\.ts$/,
  '@e965/xlsx': /^runtime\/documents\/parsers\/(?:xlsx|compound)\.ts$/,
  '@huggingface/jinja': /^runtime\/engines\//,
  '@huggingface/tokenizers': /^runtime\/engines\/(onnx\/(?:(?:text-)?tokenizer|long-words)|documents\/token-text)\.ts$/,
  '@hyzyla/pdfium': /^runtime\/documents\/parsers\/pdf\//,
  '@kenjiuno/msgreader': /^runtime\/documents\/parsers\/msg\.ts$/,
  ajv: /^schemas\//,
  'apache-arrow': /^runtime\/ml\/buffers\/formats\/arrow\.ts$/,
  'chardetng-wasm': /^runtime\/documents\/parsers\/encodings\/guess\.ts$/,
  'csv-parse': /^runtime\/documents\/parsers\/csv\.ts$/,
  'eventsource-parser': /^runtime\/providers\//,
  fflate: /^runtime\/documents\/parsers\/archive\.ts$/,
  'iconv-lite': /^runtime\/documents\/parsers\/encodings\/decode\.ts$/,
  htmlparser2: /^runtime\/documents\/parsers\/markup\.ts$/,
  lmdb: /^runtime\/store\//,
  mammoth: /^runtime\/documents\/parsers\/docx\.ts$/,
  'mdast-util-from-markdown': /^runtime\/documents\/parsers\/markdown\.ts$/,
  'mdast-util-gfm': /^runtime\/documents\/parsers\/markdown\.ts$/,
  'micromark-extension-gfm': /^runtime\/documents\/parsers\/markdown\.ts$/,
  msgpackr: /^runtime\/store\//,
  'node-llama-cpp': /^(runtime\/engines\/gguf|native\/inference\/|bench\/)/,
  'onnxruntime-node': /^runtime\/engines\/onnx\/session\.ts$/,
  'postal-mime': /^runtime\/documents\/parsers\/eml\.ts$/,
  re2js: /^runtime\/documents\/extractors\/patterns\/custom\.ts$/,
  'smol-toml': /^runtime\/config\/toml\.ts$/,
  sharp: /^runtime\/pictures\/codec\.ts$/,
  'tesseract.js': /^runtime\/engines\/tesseract\//,
  'word-extractor': /^runtime\/documents\/parsers\/doc\.ts$/,
  undici: /^runtime\/net\//,
  ws: /^gateway\/http\/node\.ts$/,
  yaml: /^runtime\/config\//,
  tinybench: /^bench\//,
  fastify: /^bench\//,
};
/** Where each C++ library may be included. */
const CPP_DOORS: [header: RegExp, door: RegExp][] = [
  [/^napi\.h$/, /^native\/binding\//],
  [/^(?:llama|ggml)/, /^native\/inference\//],
];
const LONGEST_TS = 400;
const LONGEST_CPP = 500;
const MEDIAN_TS = 120;
const P90_TS = 300;

function below(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (name === 'generated' || name === 'node_modules') return [];
    return statSync(join(ROOT, path)).isDirectory() ? below(path) : [path];
  });
}

const sources = [...LAYERS, 'models'].flatMap(below);
const typescript = sources.filter((file) => file.endsWith('.ts'));
const everything = [...sources, ...below('test'), ...below('bench'), ...below('scripts')];
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const lines = (file: string): number => text(file).trimEnd().split('\n').length;

/** The specifiers that a file imports, types included. */
function imports(file: string): string[] {
  return [...text(file).matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
}

/** Relative imports of a file as paths from the root, `.js` turned back into `.ts`. */
function ownImports(file: string): string[] {
  return imports(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) =>
      normalize(join(dirname(file), specifier))
        .split(sep)
        .join('/')
        .replace(/\.js$/, '.ts'),
    );
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe('tidy', () => {
  it('imports only downwards through the layers', () => {
    const wrong = typescript.flatMap((file) => {
      const from = LAYERS.indexOf(file.split('/')[0]!);
      return from < 0
        ? []
        : ownImports(file)
            .filter((target) => LAYERS.indexOf(target.split('/')[0]!) > from)
            .map((target) => `${file} -> ${target}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('imports only downwards through the tiers of runtime', () => {
    const room = (path: string): string => path.split('/')[1]!;
    const wrong = typescript
      .filter((file) => file.startsWith('runtime/'))
      .flatMap((file) =>
        ownImports(file)
          .filter((target) => target.startsWith('runtime/') && room(target) !== room(file))
          .filter((target) => !(TIERS[room(target)]! < TIERS[room(file)]!))
          .map((target) => `${file} -> ${target}`),
      );
    assert.deepEqual(wrong, []);
  });

  it('enters each third-party package through its one door', () => {
    const wrong = [...typescript, ...below('bench').filter((file) => file.endsWith('.ts'))].flatMap((file) =>
      imports(file)
        .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
        .filter((specifier) => !DOORS[packageOf(specifier)]?.test(file) && !file.startsWith('bench/'))
        .map((specifier) => `${file} -> ${specifier}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('enters each C++ library through its one door', () => {
    const wrong = sources
      .filter((file) => /\.(cpp|hpp)$/.test(file))
      .flatMap((file) =>
        [...text(file).matchAll(/^#include [<"]([^>"]+)[>"]/gm)]
          .filter(([, header]) => CPP_DOORS.some(([library, door]) => library.test(header!) && !door.test(file)))
          .map(([, header]) => `${file} -> ${header}`),
      );
    assert.deepEqual(wrong, []);
  });

  it('keeps files small', () => {
    const long = sources.filter(
      (file) => lines(file) > (/\.(cpp|hpp)$/.test(file) ? LONGEST_CPP : file.endsWith('.ts') ? LONGEST_TS : Infinity),
    );
    assert.deepEqual(long, []);
    const lengths = typescript.map(lines).sort((a, b) => a - b);
    assert.ok(lengths[Math.floor(lengths.length / 2)]! <= MEDIAN_TS, `median ${lengths[Math.floor(lengths.length / 2)]}`);
    assert.ok(lengths[Math.floor(lengths.length * 0.9)]! <= P90_TS, `p90 ${lengths[Math.floor(lengths.length * 0.9)]}`);
  });

  it('documents every export', () => {
    const bare = typescript.flatMap((file) => {
      const rows = text(file).split('\n');
      return rows.flatMap((row, index) => {
        // A re-export is documented where it is declared.
        if (!/^export (?:async |abstract |declare )*(?:function|class|interface|type|const|let|enum)\b(?! \{)/.test(row)) return [];
        return rows[index - 1]?.trimEnd().endsWith('*/') ? [] : [`${file}:${index + 1}`];
      });
    });
    assert.deepEqual(bare, []);
  });

  it('leaves no unfinished work and no banned names', () => {
    const marks = new RegExp(['TO', 'DO|FIX', 'ME|X', 'XX|HA', 'CK'].join(''));
    assert.deepEqual(
      everything.filter((file) => /\.(ts|mjs|cpp|hpp)$/.test(file) && marks.test(text(file))),
      [],
    );
    assert.deepEqual(
      sources.filter((file) => /(?:^|[/-])(?:utils?|helpers?|managers?)(?:[-.]|$)/.test(file)),
      [],
    );
  });

  it('has a scenario for every endpoint', () => {
    const tables = below('test/api').map(text).join('\n');
    const missing = [...coreEndpoints, ...universalEndpoints]
      .filter((one) => !one.hidden)
      .filter(
        (one) =>
          !tables.includes(`'${one.id}'`) &&
          !new RegExp(one.path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\\\{[^/]+?\\\}/g, '[^\'"`]+?')).test(tables),
      )
      .map((one) => `${one.method} ${one.path} (${one.id})`);
    assert.deepEqual(missing, []);
  });
});

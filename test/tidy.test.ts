import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, it } from 'node:test';
import { coreEndpoints, coreSockets } from '../gateway/core/index.js';
import { DEFAULT_LIMITS } from '../gateway/http/transport.js';
import { universalEndpoints, universalSockets } from '../gateway/universal/index.js';
import { openApiDocument } from '../schemas/openapi.js';
import { longParameterLists } from './support/parameters.js';

// The compiled test lies in build/test; the rules are about the sources beside build.
const ROOT = join(import.meta.dirname, '..', '..');
const LAYERS = ['schemas', 'native', 'runtime', 'accounts', 'gateway', 'cli'];
/** What `runtime/floors.json` says: the folders of each floor, lowest first, and which of its own floor a folder may import. */
interface Floors {
  /** The one file that stands in no folder. */
  readonly entry: string;
  readonly floors: readonly {
    readonly name: string;
    readonly folders: Readonly<Record<string, string>>;
    readonly neighbours?: Readonly<Record<string, readonly string[]>>;
  }[];
}
/** Where each third-party package may be imported. */
const DOORS: Record<string, RegExp> = {
  '@better-auth/kysely-adapter': /^accounts\/identity\/library\.ts$/,
  'better-auth': /^accounts\/identity\//,
  kysely: /^accounts\//,
  '@libsql/client': /^accounts\/database\/dialects\/libsql\.ts$/,
  mysql2: /^accounts\/database\/database\.ts$/,
  nodemailer: /^accounts\/mail\.ts$/,
  stripe: /^accounts\/billing\/stripe\.ts$/,
  pg: /^accounts\/database\/database\.ts$/,
  '@zxcvbn-ts/language-common': /^accounts\/identity\/passwords\.ts$/,
  '@evan/opus': /^runtime\/speech\/decode\/opus\.ts$/,
  '@fastify/busboy': /^gateway\/http\/multipart\.ts$/,
  '@e965/xlsx': /^runtime\/documents\/parsers\/(?:xlsx|compound)\.ts$/,
  '@huggingface/jinja': /^runtime\/engines\//,
  '@huggingface/tokenizers': /^runtime\/engines\/tokenizers\//,
  '@hyzyla/pdfium': /^runtime\/documents\/parsers\/pdf\//,
  '@kenjiuno/msgreader': /^runtime\/documents\/parsers\/msg\.ts$/,
  'cmu-pronouncing-dictionary': /^runtime\/engines\/speaking\/text\/pronounce\.ts$/,
  ajv: /^schemas\//,
  'apache-arrow': /^runtime\/ml\/buffers\/arrow\.ts$/,
  'chardetng-wasm': /^runtime\/documents\/parsers\/encodings\/guess\.ts$/,
  'csv-parse': /^runtime\/documents\/parsers\/csv\.ts$/,
  'eventsource-parser': /^runtime\/providers\//,
  fflate: /^runtime\/documents\/parsers\/archive\.ts$/,
  'iconv-lite': /^runtime\/documents\/parsers\/encodings\/decode\.ts$/,
  htmlparser2: /^runtime\/documents\/parsers\/markup\.ts$/,
  lmdb: /^runtime\/store\//,
  mammoth: /^runtime\/documents\/parsers\/docx\.ts$/,
  '@modelcontextprotocol/client': /^runtime\/mcp\//,
  '@mediabunny/aac-encoder': /^runtime\/speech\/codecs\/mediabunny\.ts$/,
  '@mediabunny/flac-encoder': /^runtime\/speech\/codecs\/mediabunny\.ts$/,
  mediabunny: /^runtime\/speech\/(?:codecs\/mediabunny|decode\/mp4)\.ts$/,
  'mdast-util-from-markdown': /^runtime\/documents\/parsers\/markdown\.ts$/,
  'mdast-util-gfm': /^runtime\/documents\/parsers\/markdown\.ts$/,
  'micromark-extension-gfm': /^runtime\/documents\/parsers\/markdown\.ts$/,
  'mpg123-decoder': /^runtime\/speech\/decode\/mp3\.ts$/,
  '@modelcontextprotocol/server': /^gateway\/mcp\/(?:library|server|transport)\.ts$/,
  msgpackr: /^runtime\/store\//,
  ngeohash: /^runtime\/memory\/place-index\.ts$/,
  'node-llama-cpp': /^(native\/inference\/|bench\/)/,
  ogv: /^runtime\/speech\/decode\/packets\.ts$/,
  'onnxruntime-node': /^runtime\/engines\/onnx\/session\.ts$/,
  'postal-mime': /^runtime\/documents\/parsers\/eml\.ts$/,
  rbush: /^runtime\/memory\/place-index\.ts$/,
  re2js: /^runtime\/documents\/extractors\/pattern\.ts$/,
  'smol-toml': /^runtime\/config\/parse\.ts$/,
  'sherpa-onnx-node': /^runtime\/engines\/sherpa\//,
  sharp: /^runtime\/pictures\/codec\.ts$/,
  'tesseract.js': /^runtime\/engines\/ocr\/tesseract\//,
  'wasm-media-encoders': /^runtime\/speech\/codecs\/mp3\.ts$/,
  'word-extractor': /^runtime\/documents\/parsers\/doc\.ts$/,
  undici: /^runtime\/net\//,
  ws: /^gateway\/http\/node\.ts$/,
  yaml: /^(?:runtime|accounts)\/config\//,
  zod: /^(?:gateway\/mcp\/library|runtime\/mcp\/connection)\.ts$/,
  tinybench: /^bench\//,
  fastify: /^bench\//,
};
/** Where each C++ library may be included. */
const CPP_DOORS: [header: RegExp, door: RegExp][] = [
  [/^napi\.h$/, /^native\/binding\//],
  [/^(?:llama|ggml|whisper\.h|src\/whisper)/, /^native\/inference\//],
];
const LONGEST_TS = 400;
const LONGEST_CPP = 500;
/** Of a function of native/, in either language; what needs more takes them as a struct. */
const MOST_PARAMETERS = 6;
const MEDIAN_TS = 120;
const P90_TS = 300;
/** Characters of a table's cell in a decision. */
const LONGEST_CELL = 300;

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
const { entry, floors } = JSON.parse(text('runtime/floors.json')) as Floors;
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

const importsRoom = (file: string, room: string): boolean => ownImports(file).some((target) => target.startsWith(`runtime/${room}/`));

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Circles among things that lead to others, each as the way around; every circle is met at least in part. */
function circlesOf(leadsTo: ReadonlyMap<string, Iterable<string>>): string[] {
  const seen = new Map<string, 'under way' | 'done'>();
  const way: string[] = [];
  const circles: string[] = [];
  const visit = (one: string): void => {
    if (seen.get(one) === 'under way') circles.push([...way.slice(way.indexOf(one)), one].join(' -> '));
    if (seen.has(one)) return;
    seen.set(one, 'under way');
    way.push(one);
    for (const next of leadsTo.get(one) ?? []) visit(next);
    way.pop();
    seen.set(one, 'done');
  };
  for (const one of leadsTo.keys()) visit(one);
  return circles;
}

describe('tidy', () => {
  it('keeps the accounts library apart: it imports schemas alone, and the gateway alone imports it', () => {
    const crossing = typescript.flatMap((file) =>
      ownImports(file)
        .map((target) => [file.split('/')[0]!, target.split('/')[0]!] as const)
        .filter(
          ([from, to]) =>
            (from === 'accounts' && !['accounts', 'schemas'].includes(to)) ||
            (to === 'accounts' && !['accounts', 'gateway', 'cli'].includes(from)),
        )
        .map(([, to]) => `${file} imports ${to}`),
    );
    assert.deepEqual(crossing, []);
  });

  it('packs everything that the daemon depends on', () => {
    const { dependencies, optionalDependencies, bundleDependencies } = JSON.parse(text('package.json')) as {
      dependencies: Record<string, string>;
      optionalDependencies: Record<string, string>;
      bundleDependencies: string[];
    };
    assert.deepEqual(bundleDependencies, [...Object.keys(dependencies), ...Object.keys(optionalDependencies)].sort());
  });

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

  it('has a floor for everything in runtime', () => {
    const known = [...floors.flatMap(({ folders }) => Object.keys(folders)), entry, 'floors.json'];
    const wrong = readdirSync(join(ROOT, 'runtime'))
      .filter((name) => !known.includes(name))
      .map((name) =>
        name.includes('.')
          ? `runtime/${name} is a loose file: put it into a folder of runtime`
          : `runtime/${name} is not in runtime/floors.json: add it to the floor it belongs to, with a sentence that says what it holds, and run node scripts/floors.mjs`,
      );
    assert.deepEqual(wrong, []);
    const gone = known.filter((name) => !existsSync(join(ROOT, 'runtime', name)));
    assert.deepEqual(gone, [], 'runtime/floors.json names what is not there');
    const twice = known.filter((name, at) => known.indexOf(name) !== at);
    assert.deepEqual(twice, [], 'runtime/floors.json names a folder twice');
  });

  it('imports only downwards through the floors of runtime', () => {
    const room = (path: string): string => path.split('/')[1]!;
    const floorOf = (name: string): number => floors.findIndex(({ folders }) => name in folders);
    const mayImport = (from: string, target: string): boolean => {
      if (from === target || from === entry) return true;
      const here = floorOf(from);
      return floorOf(target) < here ? target !== entry : floors[here]?.neighbours?.[from]?.includes(target) === true;
    };
    const wrong = typescript
      .filter((file) => file.startsWith('runtime/'))
      .flatMap((file) =>
        ownImports(file)
          .filter((target) => target.startsWith('runtime/') && !mayImport(room(file), room(target)))
          .map((target) => `${file} -> ${target}`),
      );
    assert.deepEqual(wrong, []);
  });

  it('lets neighbours on a floor import only what they use, and never in a circle', () => {
    for (const { name, folders, neighbours = {} } of floors) {
      const strangers = Object.entries(neighbours).flatMap(([folder, others]) => [folder, ...others].filter((one) => !(one in folders)));
      assert.deepEqual(strangers, [], `neighbours on the floor '${name}' that do not stand on it`);
      const unused = Object.entries(neighbours).flatMap(([folder, others]) =>
        others
          .filter((other) => !below(`runtime/${folder}`).some((file) => importsRoom(file, other)))
          .map((other) => `${folder} no longer imports ${other}`),
      );
      assert.deepEqual(unused, []);
      const reaches = (from: string, target: string): boolean =>
        (neighbours[from] ?? []).some((next) => next === target || reaches(next, target));
      assert.deepEqual(
        Object.keys(neighbours).filter((folder) => reaches(folder, folder)),
        [],
        `neighbours on the floor '${name}' that import each other`,
      );
    }
  });

  it('starts only programs that are there', () => {
    // Compiled files stay in build when their source is gone, so that a wrong name shows itself only in a fresh clone.
    const beside = /(?:new URL\('\.\/|join\((?:import\.meta\.dirname|dirname\(import\.meta\.filename\)), ')((?!no-such)[\w/-]+)\.js'/g;
    const wrong = [...typescript, ...below('test')].flatMap((file) =>
      [...text(file).matchAll(beside)]
        .map(([, name]) => join(dirname(file), `${name}.ts`))
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${file} starts ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('has no circles of files, not even of types', () => {
    assert.deepEqual(circlesOf(new Map(typescript.map((file) => [file, ownImports(file)]))), []);
  });

  it('leads no way back between two folders of one folder of runtime', () => {
    const room = (path: string): string => path.split('/').slice(0, 3).join('/');
    const ways = new Map<string, Set<string>>();
    for (const file of typescript.filter((one) => /^runtime\/[^/]+\/[^/]+\//.test(one))) {
      const targets = ownImports(file).filter((one) => one.split('/').length > 3 && room(one) !== room(file));
      const beside = targets.map(room).filter((one) => dirname(one) === dirname(room(file)));
      ways.set(room(file), new Set([...(ways.get(room(file)) ?? []), ...beside]));
    }
    assert.deepEqual(circlesOf(ways), []);
  });

  it('loads only the packages of the store before the first request', () => {
    const loaded = new Map<string, string>();
    const visit = (file: string): void => {
      for (const [, names = '', from, bare] of text(file).matchAll(
        /^(?:import|export)\b(?! type\b)([^;]*?)\bfrom '([^']+)'|^import '([^']+)'/gm,
      )) {
        // What is imported for its types only is not there at run time.
        if (/^\s*\{(?:\s*type [^,}]+,?)+\s*\}\s*$/.test(names)) continue;
        const specifier = from ?? bare!;
        const target = specifier.startsWith('.') ? normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts') : specifier;
        if (loaded.has(target) || target.startsWith('node:')) continue;
        loaded.set(target, file);
        if (target !== specifier && existsSync(join(ROOT, target))) visit(target);
      }
    };
    visit('gateway/daemon/daemon.ts');
    const ofAccounts = [...loaded].filter(([target]) => /^(?:accounts|gateway\/accounts|runtime\/tenants)\//.test(target));
    assert.deepEqual(ofAccounts, [], 'the accounts are loaded by a daemon that does not use them');
    const packages = [...loaded].filter(([target]) => target in DOORS || packageOf(target) in DOORS);
    assert.deepEqual(
      packages.filter(([name]) => !['lmdb', 'msgpackr'].includes(name)).map(([name, file]) => `${file} loads ${name} at the start`),
      [],
    );
  });

  it('shows the floors in docs/architecture.md', () => {
    const map = execFileSync(process.execPath, ['scripts/floors.mjs', '--print'], { cwd: ROOT, encoding: 'utf8' });
    assert.ok(text('docs/architecture.md').includes(map), 'the map is out of date: run node scripts/floors.mjs');
  });

  it('has every setting in docs/configuration.md', () => {
    const page = execFileSync(process.execPath, ['scripts/configuration.mjs', '--print'], {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 4 * 1024 * 1024,
    });
    assert.ok(text('docs/configuration.md') === page, 'the page is out of date: run node scripts/configuration.mjs');
    // Field, type, default, range, meaning, example: the meaning stands for every field.
    const unexplained = page
      .split('\n')
      .filter((line) => /^\| \**`/.test(line) && line.split(/(?<!\\)\|/).length === 8 && /^\s*$/.test(line.split(/(?<!\\)\|/)[5]!));
    assert.deepEqual(unexplained, [], 'fields without a description in schemas/config');
  });

  it('tells in docs/troubleshooting.md of words that the product says', () => {
    const symptoms = [...text('docs/troubleshooting.md').matchAll(/^\| (?!You see|---)(.*?) \|/gm)].map(([, first]) => first!);
    const said = [...sources, ...below('scripts')]
      .filter((file) => /\.(?:ts|mjs|py)$/.test(file))
      .map(text)
      .join('\n');
    const words = symptoms.flatMap((first) => [...first.matchAll(/`([^`]+)`/g)].map(([, word]) => word!));
    assert.ok(words.length > 30);
    assert.deepEqual(
      words.filter((word) => !said.includes(word)),
      [],
    );
  });

  it('names in the manual files and folders that are there', () => {
    const pages = [...below('docs').filter((file) => file.endsWith('.md')), 'README.md', 'accounts/README.md'];
    const path = /`((?:accounts|bench|cli|deploy|gateway|models|native|runtime|schemas|scripts|test|web)\/[^`\s<>{}*]+)`/g;
    // A project has a folder of schemas, too.
    const ofProjects = /^schemas\/(?:file|receipt)\./;
    const gone = pages.flatMap((page) =>
      [...text(page).matchAll(path)]
        .filter(([, named]) => !ofProjects.test(named!) && !existsSync(join(ROOT, named!)))
        .map(([, named]) => `${page}: ${named}`),
    );
    assert.deepEqual(gone, []);
    // Names without a folder, such as those in diagrams.
    const files = [...everything, ...below('web/src')].map((file) => `/${file}`);
    const unknown = pages.flatMap((page) =>
      [...text(page).matchAll(/[\w./-]+\.(?:ts|mjs|cpp|hpp|svelte)\b/g)]
        .filter(([named]) => !/^(?:llama|whisper)\.cpp$/.test(named) && !files.some((file) => file.endsWith(`/${named}`)))
        .map(([named]) => `${page}: ${named}`),
    );
    assert.deepEqual(unknown, []);
  });

  it('links pages of the manual to files and headings that are there', () => {
    const pages = [...below('docs').filter((file) => file.endsWith('.md')), 'README.md', 'CHANGELOG.md', 'accounts/README.md'];
    const withoutCode = (page: string): string => text(page).replaceAll(/^```.*?^```/gms, '');
    const slugOf = (heading: string): string =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-');
    const headings = new Map(pages.map((page) => [page, [...withoutCode(page).matchAll(/^#+ (.*)$/gm)].map(([, one]) => slugOf(one!))]));
    const wrong = pages.flatMap((page) =>
      [
        ...withoutCode(page)
          .replaceAll(/`[^`]*`/g, '')
          .matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g),
      ]
        .filter(([, path = '', heading]) => {
          const target =
            path === ''
              ? page
              : normalize(join(dirname(page), path))
                  .split(sep)
                  .join('/');
          return !existsSync(join(ROOT, target)) || (heading !== undefined && headings.get(target)?.includes(heading) === false);
        })
        .map(([link]) => `${page}: ${link}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('lists every page of decisions', () => {
    const list = text('docs/decisions/README.md');
    const unlisted = readdirSync(join(ROOT, 'docs/decisions')).filter((page) => page !== 'README.md' && !list.includes(`(${page})`));
    assert.deepEqual(unlisted, []);
  });

  it('gives long decisions paragraphs instead of cells', () => {
    const long = below('docs/decisions').flatMap((page) =>
      text(page)
        .split('\n')
        .filter((line) => line.startsWith('|') && line.split(/(?<!\\)\|/).some((cell) => cell.trim().length > LONGEST_CELL))
        .map((line) => `${page}: ${line.slice(0, 60)}`),
    );
    assert.deepEqual(long, []);
  });

  it('adds a service in the two places that docs/adding.md names', () => {
    const [, , lists] = /^\| a service of the .*$/m.exec(text('docs/adding.md'))![0].split(' | ');
    const places = [...lists!.matchAll(/`([^`\s]+\.ts)`/g)].map(([, path]) => path!);
    assert.equal(places.length, 2);
    // What is not of the service itself and would name it: how it is opened here and elsewhere, and its endpoints.
    const naming = [/\bAnomalyService\b/, /\bAnomalyDetectors\b/, /\bRemoteAnomaly\b/, /\banomalyEndpoints\b/];
    const own = /^runtime\/(?:ml\/anomaly\/|remote\/anomaly\.ts)|^gateway\/universal\/anomaly/;
    const touched = typescript.filter(
      (file) => /^(?:runtime|gateway|cli)\//.test(file) && !own.test(file) && naming.some((name) => name.test(text(file))),
    );
    assert.deepEqual(touched.sort(), places.sort());
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

  it('has one rule of names, which the page tells while somebody types', () => {
    const { Name } = JSON.parse(readFileSync(join(ROOT, 'schemas/common.json'), 'utf8')).$defs;
    for (const file of ['runtime/base/names.ts', 'web/src/lib/names.ts'])
      assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(`= /${Name.pattern}/;`), `${file} has not ${Name.pattern}`);
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

  it('gives no native function more parameters than a reader keeps apart', () => {
    const seven = ['const float* a', 'size_t b', 'Lines c = {1, 2}', 'std::map<int, int>& d', 'bool e', 'const T* f', 'uint8_t g[kMost]'];
    assert.deepEqual(longParameterLists('x.cpp', `int f(int a);\nvoid g(${seven.join(', ')}) {}`, MOST_PARAMETERS), [2]);
    assert.deepEqual(longParameterLists('x.ts', 'f(a: A, b?: B, c: () => C, d: D,\n e: E, f: F, g: G): void;', MOST_PARAMETERS), [1]);
    const native = sources.filter((file) => /^native\/.*\.(?:cpp|hpp|ts)$/.test(file));
    assert.deepEqual(
      native.flatMap((file) => longParameterLists(file, text(file), MOST_PARAMETERS).map((line) => `${file}:${line}`)),
      [],
    );
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

  it('says with each endpoint whose namespace a caller must have, where its path names one', () => {
    const ofNamespaces = new Set<string>(['members', 'writers', 'founders', 'admins']);
    const wrong = [...coreEndpoints, ...universalEndpoints, ...coreSockets, ...universalSockets]
      .filter(({ access, path }) => path.includes('{namespace}') && !ofNamespaces.has(access))
      .map(({ access, path }) => `${path} is for ${access}`);
    assert.deepEqual(wrong, []);
  });

  it('lets no text of a query be longer than half of the headers that a request may have', () => {
    type Schema = { $ref?: string; maxLength?: number };
    type Parameters = { parameters?: { in: string; name: string; schema: Schema }[] };
    type Document = { paths: Record<string, Record<string, Parameters>>; components: { schemas: Record<string, Schema> } };
    const wrong = [coreEndpoints, universalEndpoints].flatMap((list) => {
      const { paths, components } = openApiDocument({ title: '', version: '' }, list as typeof coreEndpoints) as unknown as Document;
      const longest = ({ $ref, maxLength = 0 }: Schema): number =>
        $ref === undefined ? maxLength : longest(components.schemas[$ref.split('/').at(-1)!]!);
      return Object.entries(paths).flatMap(([path, methods]) =>
        Object.values(methods)
          .flatMap(({ parameters = [] }) => parameters)
          .filter((one) => one.in === 'query' && longest(one.schema) > DEFAULT_LIMITS.headerBytes / 2)
          .map(({ name }) => `${name} of ${path}`),
      );
    });
    assert.deepEqual(wrong, [], 'the transport refuses such a request before its endpoint can say why');
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

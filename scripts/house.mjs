// Measures how the house is built: node scripts/house.mjs [--run [--files]]. Prints Markdown tables; `--run` counts the files that requests run, which needs a
// built tree, and `--files` names them.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root } from './steps.mjs';

const LAYERS = ['schemas', 'native', 'runtime', 'gateway', 'cli', 'accounts', 'models'];
const SHORT_LINES = 30;

/** One member of each kind of plug-in: names that stand in a file only because the member was added, and which files are its own. */
const PLUG_INS = [
  ['provider', /\blocal_runner\b|\bcreateLocalRunner\b/, /\/local-runner\.ts$/],
  ['parser', /\bmboxParser\b|\bMboxParser\b/, /\/mbox\.ts$/],
  ['extractor', /\bLinkExtractor\b/, /\/link\.ts$/],
  ['embedder', /\bOllamaEmbedder\b/, /\/ollama\.ts$/],
  ['retrieval strategy', /\bGraphRetriever\b/, /\/graph\.ts$/],
  ['vector store', /\bQdrantStore\b|\bQdrantClient\b/, /\/qdrant\.ts$/],
  ['anomaly backend', /\bcblof\b|\bCBLOF\b/, /\/cblof\.cpp$/],
  ['scheduler of image models', /\bUniPCMultistepScheduler\b/, /\/unipc\.ts$/],
  ['form of a buffer', /\bapache\.arrow\b|\/arrow\.js\b/, /\/arrow\.ts$/],
  ['OCR engine', /\beasyocr\b/, /\/ocr\/easy/],
  [
    'service',
    /\b(?:(?:core|open|close)Anomaly|RemoteAnomaly|AnomalyService|anomalyEndpoints)\b/,
    /\/ml\/anomaly\/|\/(?:universal|remote)\/anomaly/,
  ],
];
/** Files that mention members because they use them; a new member does not touch them. */
const USERS = /^runtime\/config\/templates(?:\/|\.ts$)|^native\/(?:binding|contract)/;

function filesBelow(folder) {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (name === 'generated' || name === 'node_modules' || name === 'work') return [];
    return statSync(join(root, path)).isDirectory() ? filesBelow(path) : [path];
  });
}

const text = (file) => readFileSync(join(root, file), 'utf8');
const sources = LAYERS.flatMap(filesBelow);
const files = sources.filter((file) => file.endsWith('.ts'));

/** What a file imports of ours: `{ target, type }`, where `type` says that nothing of it is there at run time. */
function importsOf(file) {
  const found = text(file).matchAll(/^(?:import|export)\b([^;]*?)\bfrom '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm);
  return [...found].map(([, names = '', from, bare, late]) => ({
    target: normalize(join(dirname(file), from ?? bare ?? late)).replace(/\.js$/, '.ts'),
    type: /^\s*type\b/.test(names) || /^\s*\{(?:\s*type [^,}]+,?)+\s*\}\s*$/.test(names),
  }));
}

const arrows = new Map(files.map((file) => [file, importsOf(file).filter(({ target }) => files.includes(target))]));

/** Groups of files that reach each other (Tarjan's strongly connected components with more than one member). */
function circles(targetsOf) {
  const order = new Map();
  const low = new Map();
  const stack = [];
  const found = [];
  const visit = (file) => {
    order.set(file, order.size);
    low.set(file, order.get(file));
    stack.push(file);
    for (const target of targetsOf(file)) {
      if (!order.has(target)) visit(target);
      if (stack.includes(target)) low.set(file, Math.min(low.get(file), low.get(target)));
    }
    if (low.get(file) !== order.get(file)) return;
    const members = stack.splice(stack.indexOf(file));
    if (members.length > 1) found.push(members);
  };
  for (const file of arrows.keys()) if (!order.has(file)) visit(file);
  return found;
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const table = (head, rows) => [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function sizes() {
  const row = (name, of) => {
    const lines = of.map((file) => text(file).trimEnd().split('\n').length).sort((a, b) => a - b);
    return [name, lines.length, at(lines, 0.5), at(lines, 0.9), lines.at(-1), lines.filter((count) => count <= SHORT_LINES).length];
  };
  const rows = LAYERS.map((layer) =>
    row(
      layer,
      files.filter((file) => file.startsWith(`${layer}/`)),
    ),
  );
  return table(
    ['Layer', 'Files', 'Median lines', 'p90', 'Longest', `At most ${SHORT_LINES} lines`],
    [...rows, row('all', files)].filter((cells) => cells[1] > 0),
  );
}

function shape() {
  const importers = new Map();
  for (const [file, targets] of arrows)
    for (const { target } of targets) importers.set(target, (importers.get(target) ?? new Set()).add(file));
  const values = circles((file) => arrows.get(file).flatMap(({ target, type }) => (type ? [] : [target])));
  const types = circles((file) => arrows.get(file).map(({ target }) => target));
  for (const members of types) process.stderr.write(`circle: ${members.join(' ')}\n`);
  return table(
    ['Shape', 'Count'],
    [
      [
        'Files of runtime with one importer',
        [...importers].filter(([file, from]) => file.startsWith('runtime/') && from.size === 1).length,
      ],
      ['Circles of values', values.length],
      ['Circles, types included', types.length],
    ],
  );
}

function plugIns() {
  const read = [...sources, 'CMakeLists.txt']
    .filter((file) => /\.(?:ts|json|cpp|hpp|txt)$/.test(file) && !USERS.test(file))
    .map((file) => [file, text(file)]);
  return table(
    ['To add ...', 'Files beside its own that are touched'],
    PLUG_INS.map(([kind, words, own]) => [kind, read.filter(([file, content]) => words.test(content) && !own.test(file)).length]),
  );
}

/** How many of our files one warm request of each kind runs in the daemon. */
async function requests() {
  const counts = [];
  const child = fork(join(root, 'scripts/house-requests.mjs'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.on('message', ({ name, files: run }) => {
    counts.push([name, run.length]);
    if (process.argv.includes('--files')) process.stderr.write(`${name}:\n${run.map((file) => `  ${file}\n`).join('')}`);
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(code ?? 1);
  return table(['Request', 'Files that it runs'], counts);
}

const parts = [sizes(), shape(), plugIns(), ...(process.argv.includes('--run') ? [await requests()] : [])];
process.stdout.write(`${parts.join('\n\n')}\n`);

// Makes docs/configuration.md from the schemas of the project file, the options of the plug-ins and the daemon's flags:
// node scripts/configuration.mjs writes it, and --print only prints it. Needs a build, where the options are compiled.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

const PAGE = join(root, 'docs/configuration.md');
const INTRO = `# Configuration

Made by \`node scripts/configuration.mjs\` from the schemas, the plug-ins and the flags themselves: change those, not this page.

A project is a folder of the data directory with the file \`project.yaml\`: \`~/.quern/projects/{namespace}/{project}/project.yaml\`. An edit is seen by the next request. \`quern config validate FILE\` checks a file, and says the
place of what is wrong; \`quern config generations\` lists what a file said before ([the command line](command-line.md)). A text may hold \`\${env:NAME}\`. Keys that stand in no table are kept and have no effect. **Bold** fields
must be there. The examples are one line each; a smallest whole file is

\`\`\`yaml
version: v1
name: notes
namespace: lab
runtime:
  models:
    - name: default
      provider: universal
      model: quern-tiny
\`\`\`
`;

const built = (file) => import(join(root, 'build', file));
const schemas = new Map();
function schemaOf(file) {
  if (!schemas.has(file)) schemas.set(file, JSON.parse(readFileSync(join(root, 'schemas', file), 'utf8')));
  return schemas.get(file);
}

/** A node with what its reference leads to: `{ node, file, name }`, where `name` tells shapes apart that have one. */
function resolved(node, file) {
  if (!node.$ref) return { node, file, name: undefined };
  const [target, name] = node.$ref.split('#/$defs/');
  const at = target === '' ? file : join(file, '..', target);
  const { $ref, ...beside } = node;
  const found = resolved(schemaOf(at).$defs[name], at);
  return { node: { ...found.node, ...beside }, file: found.file, name: `${at}#${name}` };
}

/** A value in YAML's flow style, as code of a table. */
const code = (value) => `\`${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('|', '\\|')}\``;
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const yes = (value) => value !== undefined && value !== null;
const isEmpty = (value) => typeof value === 'object' && Object.keys(value).length === 0;

/** The type in words; that a field may also be `null` is left out, since leaving it away says the same. */
function typeOf(node, file) {
  const types = [node.type].flat().filter((type) => type !== 'null');
  if (node.anyOf) {
    const kinds = node.anyOf.map((one) => typeOf(resolved(one, file).node, file)).filter(Boolean);
    return [...new Set(kinds)].join(' or ');
  }
  if (types[0] === 'array') return `list of ${typeOf(resolved(node.items ?? {}, file).node, file)}s`;
  if (node.enum) return 'choice';
  return { string: 'text', integer: 'whole number', object: 'section', boolean: 'yes or no' }[types[0]] ?? types[0] ?? '';
}

function rangeOf(node) {
  if (node.enum) return node.enum.map(code).join(', ');
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength, maxItems, maxProperties, pattern } = node;
  if (yes(minimum) || yes(exclusiveMinimum) || yes(maximum)) {
    const low = yes(exclusiveMinimum) ? `above ${exclusiveMinimum}` : yes(minimum) ? `${yes(maximum) ? '' : 'from '}${minimum}` : '';
    return [low, yes(maximum) ? `to ${maximum}` : ''].filter(Boolean).join(' ');
  }
  if (pattern) return `${code(pattern)}${yes(maxLength) ? `, up to ${maxLength} characters` : ''}`;
  if (yes(maxLength)) return minLength ? `${minLength} to ${maxLength} characters` : `up to ${maxLength} characters`;
  if (yes(maxItems ?? maxProperties)) return `up to ${maxItems ?? maxProperties}`;
  return '';
}

/** One line of YAML that sets the field, to something else than its default where that is known; sections and lists of sections have tables of their own instead. */
function exampleOf(key, node) {
  const other = node.type === 'boolean' ? !node.default : node.enum?.find((one) => one !== node.default);
  const value = [node.examples?.[0], other, node.default].find(yes);
  if (yes(value)) return isEmpty(value) ? '' : code(`${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  if ([node.type].flat().includes('boolean') || node.anyOf?.some(({ type }) => type === 'boolean')) return code(`${key}: true`);
  return '';
}

const shown = (node) => (yes(node.default) && !isEmpty(node.default) ? code(node.default) : '');
const anchor = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9_ -]/g, '')
    .replaceAll(' ', '-');

/** The tables of a section and of all below it, each shape once: where it comes first. */
function tablesOf(title, start, file, done = new Map()) {
  const waiting = [{ title, ...resolved(start, file) }];
  const pages = [];
  while (waiting.length > 0) {
    const { title: path, node, file: at } = waiting.shift();
    const rows = Object.entries(node.properties ?? {}).map(([key, member]) => {
      const field = resolved(member, at);
      const item = field.node.type === 'array' ? resolved(field.node.items ?? {}, field.file) : undefined;
      const options = (field.node.anyOf ?? []).map((one) => resolved(one, field.file));
      const below = [field, item, ...options].find((one) => one?.node.properties);
      let link = '';
      if (below) {
        const name = below.name ?? `${path}.${key}`;
        const place = `${path === 'The whole file' ? '' : `${path}.`}${key}${item ? '[]' : ''}`;
        if (!done.has(name)) {
          done.set(name, place);
          waiting.push({ title: place, ...below });
        }
        link = ` See [${done.get(name)}](#${anchor(done.get(name))}).`;
      }
      const must = node.required?.includes(key) ? `**\`${key}\`**` : `\`${key}\``;
      const sentence = cell(field.node.description ?? '');
      return `| ${must} | ${typeOf(field.node, field.file)} | ${shown(field.node)} | ${rangeOf(field.node)} | ${sentence}${link} | ${exampleOf(key, field.node)} |`;
    });
    pages.push(
      `### ${path}\n\n${node.description ? `${node.description}\n\n` : ''}| Field | Type | Default | Range | Meaning | Example |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`,
    );
  }
  return pages.join('\n');
}

const optionsTable = (type, options) =>
  Object.keys(options).length === 0
    ? `#### ${type}\n\nNo options.\n`
    : `#### ${type}\n\n| Option | Type | Default | Range | Meaning | Example |\n|---|---|---|---|---|---|\n${Object.entries(options)
        .map(
          ([key, option]) =>
            `| \`${key}\` | ${typeOf(option, '')} | ${shown(option)} | ${rangeOf(option)} | ${cell(option.description ?? '')} | ${exampleOf(key, option)} |`,
        )
        .join('\n')}\n`;

/** Types with the same options have one table. */
function optionTables(members) {
  const byText = new Map();
  for (const { type, options } of members) {
    const text = JSON.stringify(options);
    byText.set(text, { types: [...(byText.get(text)?.types ?? []), type], options });
  }
  return [...byText.values()].map(({ types, options }) => optionsTable(types.join(', '), options)).join('\n');
}

const { RETRIEVERS } = await built('runtime/rag/retrievers/index.js');
const { EMBEDDERS } = await built('runtime/rag/embedders/index.js');
const { PARSERS } = await built('runtime/documents/parsers/index.js');
const { extractors } = await built('runtime/documents/extractors/index.js');
const { STORE_KINDS } = await built('runtime/rag/stores/options.js');
const { OPTIONS } = await built('gateway/daemon/options.js');

const parsers = PARSERS.flatMap(({ defaults }) => Object.entries(defaults)).map(
  ([type, defaults]) =>
    `| \`${type}\` | ${Object.entries(defaults)
      .map(([key, value]) => code(`${key}: ${JSON.stringify(value)}`))
      .join(', ')} |`,
);
const stores = Object.entries(STORE_KINDS).map(([type, { metricKeys, metric, dimensionKeys, mostDimensions, server }]) => {
  const place = server
    ? `\`host\` (absent: the data directory), \`port\` (${server.port}), \`collection_name\`, \`api_key\`, \`on_disk\``
    : '';
  return `| \`${type}\` | ${metricKeys.map(code).join(' or ')} (${code(metric)}) | ${dimensionKeys.map(code).join(' or ')}, up to ${mostDimensions} | ${place} |`;
});
const flags = Object.entries(OPTIONS).map(([flag, [variable, meaning]]) => `| \`--${flag}\` | \`${variable}\` | ${cell(meaning)} |`);

const page = [
  INTRO,
  '## The project file\n',
  tablesOf('The whole file', { $ref: '#/$defs/ProjectConfig' }, 'config/project.json'),
  '## Options of plug-ins\n\nThese stand in `config` of a strategy, a parser or an extractor.\n',
  `### Databases\n\nThe metric is \`cosine\`, \`l2\` or \`ip\`; without a dimension the first vector decides. \`enable_deduplication: false\` keeps what came twice.\n\n| Type | Metric (default) | Dimension | Server |\n|---|---|---|---|\n${stores.join('\n')}\n`,
  `### Embedding strategies\n\n${optionTables(Object.values(EMBEDDERS))}`,
  `### Retrieval strategies\n\n${optionTables(Object.values(RETRIEVERS))}`,
  `### Parsers\n\n| Type | Options with their defaults |\n|---|---|\n${parsers.join('\n')}\n\nA parser with options, in a strategy: \`{type: PDFParser, file_extensions: [".pdf"], config: {chunk_size: 600, chunk_overlap: 80, chunk_strategy: sentences}}\`.\n`,
  `### Extractors\n\n${optionTables(Object.values(extractors))}`,
  '## The daemon\n\nA flag wins over its variable.\n',
  '```bash\nquern start --data-dir /srv/quern --port 8080 --api-key "$KEY" --host 0.0.0.0\nDATA_DIR=/srv/quern QUERN_ALLOW_ENV=OPENAI_API_KEY,LAB_TOKEN quern start --allowed-hosts box.lan,box\nquern start --tls-cert /etc/quern/chain.pem --tls-key /etc/quern/key.pem --dataset-quota-gb 20\nquern start --runtime-url http://10.0.0.5:11540,http://10.0.0.6:11540 --otlp-endpoint http://127.0.0.1:4318\n```\n',
  `| Flag | Environment | Meaning (default) |\n|---|---|---|\n${flags.join('\n')}\n`,
].join('\n');

if (process.argv.includes('--print')) process.stdout.write(page);
else writeFileSync(PAGE, page);

import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse } from 'yaml';
import { MAX_BACKUPS } from '../../../../runtime/config/replace-file.js';
import { Projects } from '../../../../runtime/projects/projects.js';

/** A parsed value whose shape the assertions tell. */
type Loose = ReturnType<typeof JSON.parse>;

const dataDir = mkdtempSync(join(tmpdir(), 'quern-projects-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const projects = new Projects({ dataDir });
const TOML = 'version = "v1"\n[[runtime.models]]\nname = "m"\nprovider = "universal"\nmodel = "x"\n';
const GOOD = 'version: v1\nruntime:\n  models:\n    - {name: m, provider: universal, model: x}\n';

/** Makes a project directory with the given files and returns its path. */
function place(namespace: string, name: string, files: Record<string, string> = { 'project.yaml': GOOD }): string {
  const directory = join(dataDir, 'projects', namespace, name);
  mkdirSync(directory, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
  return directory;
}
const modelOf = (namespace: string, name: string): string => projects.load(namespace, name).config.runtime.models[0]!.model;
const bytesOf = async (namespace: string): Promise<Loose> => JSON.parse((await projects.listBytes(namespace)).toString());

test('list: sorted, without what is no project, invalid ones with the reason, and the bytes say the same', async () => {
  place('mix', 'b');
  place('mix', 'a');
  place('mix', '.hidden');
  place('mix', 'no-file', {});
  place('mix', 'not-yaml', { 'project.yaml': 'a: [' });
  const models = Array.from({ length: 7 }, () => '{name: x}').join(', ');
  place('mix', 'wrong', { 'project.yaml': `version: v1\nruntime: {models: [${models}]}\nkeep: me\n` });
  writeFileSync(join(dataDir, 'projects', 'mix', 'file'), '');
  const { total, projects: listed } = projects.list('mix');
  assert.deepEqual([total, ...listed.map((project) => project.name)], [3, 'a', 'b', 'wrong']);
  assert.equal(listed[0]!.validation_error, null);
  assert.equal((listed[2]!.config as Loose).keep, 'me');
  assert.match(listed[2]!.validation_error!, /^runtime\.models\[0\]\.provider: runtime provider is required.*; .* \(and 9 more errors\)$/);
  assert.deepEqual(await bytesOf('mix'), JSON.parse(JSON.stringify({ total, projects: listed })));
});

test('list: an unknown namespace is empty, an invalid one is not found', async () => {
  assert.deepEqual(projects.list('nobody'), { total: 0, projects: [] });
  assert.deepEqual(await bytesOf('nobody'), { total: 0, projects: [] });
  for (const name of ['..', 'a/b', '.staging', '']) {
    assert.throws(() => projects.list(name), { status: 404 });
    await assert.rejects(async () => projects.listBytes(name), { status: 404 });
  }
});

test('list: bytes follow every change on disk by the next turn of the event loop', async () => {
  const directory = place('turns', 'a');
  // The list is served from memory once its files are old enough.
  while (!(projects.listBytes('turns') instanceof Uint8Array)) await bytesOf('turns').then(() => nextTurn());
  const steps: [change: () => void, names: string[]][] = [
    [() => writeFileSync(join(directory, 'project.yaml'), GOOD.replace('model: x', 'model: y')), ['a:y']],
    [() => place('turns', 'b'), ['a:y', 'b:x']],
    [() => place('turns', 'c', {}), ['a:y', 'b:x']],
    [() => writeFileSync(join(dataDir, 'projects/turns/c/project.yml'), GOOD), ['a:y', 'b:x', 'c:x']],
    [() => writeFileSync(join(dataDir, 'projects/turns/c/project.yaml'), GOOD.replace('model: x', 'model: z')), ['a:y', 'b:x', 'c:z']],
    [() => rmSync(directory, { recursive: true }), ['b:x', 'c:z']],
    [() => renameSync(join(dataDir, 'projects/turns/b'), join(dataDir, 'projects/turns/d')), ['c:z', 'd:x']],
  ];
  for (const [change, names] of steps) {
    change();
    await nextTurn();
    await nextTurn();
    const { projects: listed } = await bytesOf('turns');
    assert.deepEqual(
      listed.map((project: Loose) => `${project.name}:${project.config.runtime.models[0].model}`),
      names,
    );
  }
});

test('load: sees each edit at once, also of the same size in the same instant and with the time set back', () => {
  const path = join(place('hot', 'p'), 'project.yaml');
  const stamps = new Set<string>();
  for (let round = 0; round < 300; round += 1) {
    writeFileSync(path, GOOD.replace('model: x', `model: m${String(round).padStart(4, '0')}`));
    if (round % 3 === 0) utimesSync(path, 1, 1);
    assert.equal(modelOf('hot', 'p'), `m${String(round).padStart(4, '0')}`);
    stamps.add(projects.load('hot', 'p').stamp);
  }
  assert.equal(stamps.size, 300);
  assert.equal(projects.load('hot', 'p'), projects.load('hot', 'p'));
});

test('load: file names in order', () => {
  const of = (model: string): string => GOOD.replace('model: x', `model: ${model}`);
  const json = JSON.stringify({ version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'json' }] } });
  const directory = place('order', 'p', {
    'project.yaml': of('yaml'),
    'project.yml': of('yml'),
    'project.toml': TOML,
    'project.json': json,
  });
  assert.equal(modelOf('order', 'p'), 'yaml');
  rmSync(join(directory, 'project.yaml'));
  assert.equal(modelOf('order', 'p'), 'yml');
  rmSync(join(directory, 'project.yml'));
  assert.equal(modelOf('order', 'p'), 'x');
  rmSync(join(directory, 'project.toml'));
  assert.equal(modelOf('order', 'p'), 'json');
  rmSync(join(directory, 'project.json'));
  assert.throws(() => projects.load('order', 'p'), { status: 422, code: 'ProjectConfigError', message: /no configuration file found in/ });
  rmSync(directory, { recursive: true });
  assert.throws(() => projects.load('order', 'p'), { status: 404, code: 'ProjectNotFound', message: /directory does not exist/ });
});

test('load: what cannot be used is refused, and get shows what can be shown', () => {
  for (const [name, text] of Object.entries({ empty: '', broken: 'a: [', binary: '\0\u0001' })) {
    place('bad', name, { 'project.yaml': text });
    assert.throws(() => projects.load('bad', name), { status: 422, code: 'ProjectConfigError' });
    assert.throws(() => projects.get('bad', name), { status: 422, code: 'ProjectConfigError' });
  }
  for (const [name, text, reason] of [
    ['open', 'a = [1', /project\.toml: it is not valid TOML/],
    ['twice', 'a = 1\na = 2', /it is not valid TOML/],
    ['deep', `a = ${'['.repeat(300)}${']'.repeat(300)}`, /nested|TOML/],
    ['huge', 'a = 99999999999999999999', /TOML/],
  ] as const) {
    place('bad-toml', name, { 'project.toml': text });
    assert.throws(() => projects.load('bad-toml', name), { status: 422, code: 'ProjectConfigError', message: reason });
  }
  writeFileSync(join(place('bad', 'latin1'), 'project.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xe9]));
  assert.throws(() => projects.get('bad', 'latin1'), { status: 422, message: /not UTF-8/ });
  place('bad', 'schema', { 'project.yaml': 'runtime: {models: []}\n' });
  assert.throws(() => projects.load('bad', 'schema'), { status: 422, errors: [{ type: 'missing', loc: ['version'], msg: 'is required' }] });
  assert.deepEqual(projects.get('bad', 'schema').config, { runtime: { models: [] } });
  assert.equal(projects.get('bad', 'schema').validation_error, 'version: is required');
  place('bad', 'dangling', { 'project.yaml': `${GOOD}voice: {llm_model: gone}\n` });
  assert.equal(projects.load('bad', 'dangling').validationError, "voice.llm_model: no model 'gone' (available: m)");
});

test('load: a project cannot be changed by who reads it', () => {
  place('frozen', 'p');
  const { config } = projects.load('frozen', 'p');
  assert.throws(() => config.runtime.models.push(config.runtime.models[0]!), TypeError);
  assert.throws(() => Object.assign(config.runtime.models[0]!, { model: 'other' }), TypeError);
});

test('load: links that lead out of the projects directory are refused, for directories and files', () => {
  const outside = mkdtempSync(join(tmpdir(), 'quern-outside-'));
  mkdirSync(join(outside, 'p'));
  writeFileSync(join(outside, 'p', 'project.yaml'), GOOD);
  place('links', 'inside');
  symlinkSync(join(outside, 'p'), join(dataDir, 'projects/links/dir'));
  symlinkSync(outside, join(dataDir, 'projects/linked-ns'));
  symlinkSync(join(outside, 'p', 'project.yaml'), join(place('links', 'file', {}), 'project.yaml'));
  symlinkSync(join(dataDir, 'projects/links/inside'), join(dataDir, 'projects/links/alias'));
  assert.throws(() => projects.load('links', 'dir'), { status: 404 });
  assert.throws(() => projects.load('linked-ns', 'p'), { status: 404 });
  assert.throws(() => projects.load('links', 'file'), { status: 422, message: /leads out of the data directory/ });
  assert.equal(modelOf('links', 'alias'), 'x');
  assert.deepEqual(
    projects.list('links').projects.map((project) => project.name),
    ['alias', 'inside'],
  );
  assert.deepEqual(projects.list('linked-ns').total, 0);
  rmSync(outside, { recursive: true });
});

test('put: forces the names, drops nulls, keeps comments and a dated backup', async () => {
  const text = `# mine\n${GOOD}name: wrong\nmine: kept # why\n`;
  const directory = place('put', 'p', { 'project.yaml': text });
  const config = {
    ...parse(text),
    namespace: 'elsewhere',
    runtime: { models: [{ name: 'm', provider: 'universal', model: 'y', api_key: null }] },
  };
  const saved = await projects.put('put', 'p', config);
  assert.deepEqual(saved.config, {
    version: 'v1',
    name: 'p',
    namespace: 'put',
    mine: 'kept',
    runtime: { models: [{ name: 'm', provider: 'universal', model: 'y' }] },
  });
  assert.equal(saved.validation_error, null);
  const written = readFileSync(join(directory, 'project.yaml'), 'utf8');
  assert.deepEqual(parse(written), saved.config);
  assert.ok(written.startsWith('# mine\n') && written.includes('mine: kept # why') && !written.includes('null'), written);
  const [backup, ...others] = readdirSync(directory).filter((name) => name !== 'project.yaml');
  assert.match(backup!, /^project\.\d{8}_\d{6}\.yaml$/);
  assert.deepEqual(others, []);
  assert.equal(readFileSync(join(directory, backup!), 'utf8'), text);
});

test('put: what is refused leaves the file as it was', async () => {
  const directory = place('put', 'refused');
  const deep = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
  const model = { name: 'm', provider: 'universal', model: 'x' };
  const tries: { config: Record<string, unknown>; says: RegExp }[] = [
    { config: {}, says: /version: is required; runtime: is required/ },
    { config: { version: 'v1', runtime: { models: [{ name: 'm', model: 'x' }] } }, says: /runtime provider is required/ },
    { config: { version: 'v1', runtime: { default_model: 'gone', models: [model] } }, says: /no model 'gone'/ },
    { config: { version: 'v1', runtime: { models: [model] }, deep }, says: /more than 64 levels/ },
  ];
  for (const { config, says } of tries) {
    await assert.rejects(projects.put('put', 'refused', config), { status: 422, code: 'ProjectConfigError', message: says });
  }
  const big = {
    version: 'v1',
    runtime: { models: [model] },
    prompts: [{ name: 'a', messages: [{ role: 'user', content: 'x'.repeat(999_999) }] }],
    more: 'y'.repeat(100_000),
  };
  await assert.rejects(projects.put('put', 'refused', big), { status: 413 });
  await assert.rejects(projects.put('put', 'refused', tries[1]!.config), (failure: Loose) => {
    assert.deepEqual(
      failure.errors.map((item: Loose) => item.loc),
      [['body', 'config', 'runtime', 'models', 0, 'provider']],
    );
    return true;
  });
  assert.equal(readFileSync(join(directory, 'project.yaml'), 'utf8'), GOOD);
  assert.deepEqual(readdirSync(directory), ['project.yaml']);
  await assert.rejects(projects.put('put', 'absent', { version: 'v1' }), { status: 404, code: 'ProjectNotFound' });
});

test('put: a hundred prompt sets in every script survive the round trip', async () => {
  place('put', 'prompts');
  const texts = [
    '名前は漢字です',
    'àéîõü ñ ß',
    '😀 👩‍👩‍👧 🏳️‍🌈',
    '@#$%^&*',
    '{{name | Ann}}',
    ' lead and trail ',
    'tabs\tand\nlines\n\n',
    'it\'s "quoted" \\ back',
    '# hash: colon',
    '\u2028\u00a0\ufeff',
  ];
  const prompts = Array.from({ length: 100 }, (_item, index) => ({
    name: `set_${index}`,
    messages: [{ role: 'system', content: `${texts[index % texts.length]}${index}` }],
  }));
  const config = {
    version: 'v1',
    name: 'prompts',
    namespace: 'put',
    runtime: { models: [{ name: 'm', provider: 'universal', model: 'x' }] },
    prompts,
  };
  await projects.put('put', 'prompts', config);
  assert.deepEqual(new Projects({ dataDir }).load('put', 'prompts').config.prompts, prompts);
  await projects.put('put', 'prompts', JSON.parse(JSON.stringify(projects.get('put', 'prompts').config)));
  assert.deepEqual(projects.get('put', 'prompts').config, config);
});

test('put: JSON stays JSON, TOML stays TOML, a broken file is repaired', async () => {
  const config = { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'new' }] } };
  const json = place('put', 'json', { 'project.json': '{}' });
  await projects.put('put', 'json', config);
  assert.equal(JSON.parse(readFileSync(join(json, 'project.json'), 'utf8')).runtime.models[0].model, 'new');
  const broken = place('put', 'broken', { 'project.yml': 'a: [' });
  await projects.put('put', 'broken', config);
  assert.deepEqual(
    readdirSync(broken)
      .map((name) => name.replace(/\d{8}_\d{6}/, 'T'))
      .sort(),
    ['project.T.yml', 'project.yml'],
  );
  const toml = place('put', 'toml', { 'project.toml': TOML });
  assert.equal(modelOf('put', 'toml'), 'x');
  await projects.put('put', 'toml', { ...config, prompts: [{ name: 'a', messages: [{ role: 'system', content: '"é"\n\\' }] }] });
  assert.deepEqual(
    readdirSync(toml).map((name) => name.replace(/\d{8}_\d{6}/, 'T')),
    ['project.T.toml', 'project.toml'],
  );
  assert.match(readFileSync(join(toml, 'project.toml'), 'utf8'), /^\[\[runtime\.models\]\]$/m);
  const read = new Projects({ dataDir }).load('put', 'toml').config;
  assert.deepEqual([read.runtime.models[0]!.model, read.prompts![0]!.messages[0]!.content], ['new', '"é"\n\\']);
});

for (const [file, text] of Object.entries({
  'llamafarm.yaml': 'version: v1\nname: p\nnamespace: ns\nruntime: {models: [{name: m, provider: universal, model: x}]} # mine\n',
  'llamafarm.yml': 'version: v1\nruntime: {models: [{name: m, provider: universal, model: x}]}\n',
  'llamafarm.toml': TOML,
  'llamafarm.json': '{"version":"v1","runtime":{"models":[{"name":"m","provider":"universal","model":"x"}]}}',
}))
  test(`${file} of LlamaFarm's command line is read, written where it was found, and gives way to a file of ours`, async () => {
    const name = file.replace('.', '-');
    const directory = place('farm', name, { [file]: text });
    assert.equal(modelOf('farm', name), 'x');
    assert.ok(projects.list('farm').projects.some((project) => project.name === name));
    await projects.put('farm', name, { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'new' }] } });
    assert.ok(readdirSync(directory).every((one) => one.startsWith('llamafarm.')));
    assert.equal(modelOf('farm', name), 'new');
    writeFileSync(join(directory, file), text.replace('x', 'edited'));
    assert.equal(new Projects({ dataDir }).load('farm', name).config.runtime.models[0]!.model, 'edited');
    writeFileSync(join(directory, 'project.yaml'), GOOD);
    assert.equal(new Projects({ dataDir }).load('farm', name).config.runtime.models[0]!.model, 'x');
  });

test('put: many at once are done one by one; backups are unique and limited, leftovers go', async () => {
  const directory = place('put', 'many', { 'project.yaml': GOOD, '.project.yaml.dead.tmp': 'half' });
  const count = MAX_BACKUPS + 15;
  await Promise.all(
    Array.from({ length: count }, (_item, index) =>
      projects.put('put', 'many', { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: `m${index}` }] } }),
    ),
  );
  assert.equal(modelOf('put', 'many'), `m${count - 1}`);
  const files = readdirSync(directory);
  assert.equal(files.filter((name) => /^project\.\d{8}_\d{6}(_\d{3})?\.yaml$/.test(name)).length, MAX_BACKUPS);
  assert.equal(files.length, MAX_BACKUPS + 1);
  const kept = new Set(files.map((name) => parse(readFileSync(join(directory, name), 'utf8')).runtime.models[0].model));
  assert.equal(kept.size, MAX_BACKUPS + 1, 'each backup is another state');
  assert.ok(kept.has(`m${count - 2}`), 'the newest backups are the ones kept');
});

test('put: the rights of the file stay, a new one is for its owner only', async () => {
  const directory = place('put', 'rights');
  const { mode } = statSync(join(directory, 'project.yaml'));
  await projects.put('put', 'rights', { version: 'v1', runtime: { models: [] } });
  assert.equal(statSync(join(directory, 'project.yaml')).mode, mode);
  await projects.create('put', { name: 'rights2', config_template: 'server' });
  assert.equal(statSync(join(dataDir, 'projects/put/rights2/project.yaml')).mode & 0o777, 0o600);
});

test('put: an environment reference stays text in the file and in what is returned', async () => {
  process.env.QUERN_TEST_KEY = 'sekret';
  const directory = place('put', 'env');
  const config = { version: 'v1', runtime: { models: [{ name: 'm', provider: 'openai', model: 'x', api_key: '${env:QUERN_TEST_KEY}' }] } };
  const saved = await projects.put('put', 'env', config);
  assert.equal((saved.config as Loose).runtime.models[0].api_key, '${env:QUERN_TEST_KEY}');
  assert.ok(!readFileSync(join(directory, 'project.yaml'), 'utf8').includes('sekret'));
  assert.ok(!JSON.stringify([projects.get('put', 'env'), projects.load('put', 'env')]).includes('sekret'));
});

test('create: each built-in template makes a valid project with inlined references and comments', async () => {
  for (const template of ['default', 'server', 'rag', null, undefined]) {
    const name = `t-${template}`;
    const project = await projects.create('made', { name, config_template: template });
    assert.equal(project.validation_error, null);
    assert.equal(project.name, name);
    const { config } = projects.load('made', name);
    assert.deepEqual([config.name, config.namespace, config.runtime.models[0]!.name], [name, 'made', 'default']);
    assert.equal(config.rag === undefined, template === 'server');
    assert.match(readFileSync(join(dataDir, 'projects/made', name, 'project.yaml'), 'utf8'), /^# A Quern project/);
  }
  const { rag } = projects.load('made', 't-rag').config;
  assert.equal(rag!.databases![0]!.default_embedding_strategy, 'default_embeddings');
  assert.equal(rag!.databases![0]!.retrieval_strategies![0]!.type, 'HybridUniversalStrategy');
  assert.deepEqual(rag!.data_processing_strategies![0]!.parsers[0]!.name, 'any_document');
});

test('create: templates of the operator, the default by environment, unknown and broken ones', async () => {
  mkdirSync(join(dataDir, 'templates'), { recursive: true });
  writeFileSync(join(dataDir, 'templates', 'mine.yaml'), `# own\nname: t\n${GOOD}`);
  writeFileSync(join(dataDir, 'templates', 'wrong.yaml'), 'version: v1\nruntime: {models: [{name: a, model: b}]}\n');
  await projects.create('tpl', { name: 'a', config_template: 'mine' });
  assert.match(readFileSync(join(dataDir, 'projects/tpl/a/project.yaml'), 'utf8'), /^# own\nname: a\n/);
  for (const variable of ['QUERN_CONFIG_TEMPLATE', 'LF_CONFIG_TEMPLATE']) {
    process.env[variable] = 'mine';
    await projects.create('tpl', { name: variable.toLowerCase() });
    delete process.env[variable];
    assert.equal(modelOf('tpl', variable.toLowerCase()), 'x');
  }
  for (const template of ['nope', '../templates/mine', '', 'constructor', '__proto__']) {
    await assert.rejects(
      projects.create('tpl', { name: 'n', config_template: template }),
      (error: Loose) => error.status === 404 && error.code === 'ConfigTemplateNotFound' && error.message.includes('templates'),
    );
  }
  await assert.rejects(projects.create('tpl', { name: 'w', config_template: 'wrong' }), {
    status: 422,
    message: /Template wrong.*provider is required/,
  });
  assert.throws(() => projects.load('tpl', 'w'), { status: 404 });
});

test('create: refuses the reserved namespace, bad names and what exists; of many at once one wins', async () => {
  await assert.rejects(projects.create('llamafarm', { name: 'a' }), { status: 400, code: 'ReservedNamespace', message: /llamafarm/ });
  await assert.rejects(projects.create('..', { name: 'a' }), { status: 404 });
  for (const name of ['..', 'a/b', '', 'con']) await assert.rejects(projects.create('new', { name }), { status: 422 });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => projects.create('new', { name: 'one' })));
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.status, 409);
  mkdirSync(join(dataDir, 'projects/new/leftover'), { recursive: true });
  assert.equal((await projects.create('new', { name: 'leftover' })).validation_error, null);
  place('new', 'full', { 'something.txt': 'x' });
  await assert.rejects(projects.create('new', { name: 'full' }), { status: 409 });
});

test('delete: where the operator chose so, it removes unless the request says purge=false', async () => {
  const purging = new Projects({ dataDir, purges: true });
  place('purged', 'a');
  assert.equal((await purging.delete('purged', 'a', { purge: false })).name, 'a');
  assert.equal(modelOf('purged', 'a'), 'x');
  assert.equal((await purging.delete('purged', 'a', {})).name, 'a');
  assert.throws(() => projects.load('purged', 'a'), { status: 404 });
  place('purged', 'b');
  assert.equal((await projects.delete('purged', 'b', {})).name, 'b');
  assert.equal(modelOf('purged', 'b'), 'x');
});

test('delete: returns the project and keeps it; purge removes it, tells listeners, and works on broken ones', async () => {
  const erased: string[] = [];
  const watched = new Projects({ dataDir });
  watched.onErase((namespace, name) => void erased.push(`${namespace}/${name}`));
  watched.onErase(() => Promise.reject(new Error('a listener that fails')));
  place('gone', 'a', { 'project.yaml': GOOD, 'other.txt': 'x' });
  place('gone', 'broken', { 'project.yaml': 'a: [' });
  assert.equal((await watched.delete('gone', 'a', { purge: false })).name, 'a');
  assert.equal(modelOf('gone', 'a'), 'x');
  assert.equal((await watched.delete('gone', 'a', { purge: true })).name, 'a');
  assert.throws(() => projects.load('gone', 'a'), { status: 404 });
  await assert.rejects(watched.delete('gone', 'a', { purge: true }), { status: 404, code: 'ProjectNotFound' });
  await assert.rejects(watched.delete('gone', 'broken', { purge: false }), { status: 422 });
  assert.match((await watched.delete('gone', 'broken', { purge: true })).validation_error!, /not valid YAML/);
  assert.deepEqual(readdirSync(join(dataDir, 'projects/gone')), []);
  assert.deepEqual(readdirSync(join(dataDir, 'projects/.staging')), []);
  assert.deepEqual(erased, ['gone/a', 'gone/broken']);
});

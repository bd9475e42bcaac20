import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { fingerprintOf, readUnapproved } from '../../runtime/mcp/consent.js';
import { Projects } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { McpServer } from '../../schemas/generated/config/project.js';
import type { Server } from '../../schemas/generated/core/tool-servers.js';
import { writeProject } from '../support/dataset-stage.js';
import { scripted } from '../support/mcp/tool-stage.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { FINISH, type Step } from '../unit/runtime/chat/scripted-provider.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-mcp-'));
const EVERYTHING = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const MODEL = { name: 'm', provider: 'universal', model: 'x' };
const configOf = (...servers: McpServer[]): object => ({ version: 'v1', runtime: { models: [MODEL] }, mcp: { servers } });
/** A server that leaves a file where it runs. */
const touching = (file: string, name = 'touching'): McpServer => ({
  name,
  transport: 'stdio',
  command: process.execPath,
  args: ['-e', `require('node:fs').writeFileSync(${JSON.stringify(join(dataDir, file))}, '')`],
});
const SECRET = 'canary-9f8e7d6c';
const everything: McpServer = {
  name: 'everything',
  transport: 'stdio',
  command: process.execPath,
  args: [EVERYTHING, 'stdio'],
  env: { KEY: SECRET },
};

writeProject(dataDir, 'ns', 'own', JSON.stringify(configOf(everything, scripted('exits'))));
writeProject(dataDir, 'ns', 'bare', JSON.stringify(configOf()));
writeProject(dataDir, 'ns', 'damaged', JSON.stringify(configOf(scripted('good'))));
writeFileSync(join(dataDir, 'projects/ns/damaged/.mcp-unapproved.json'), '{');
const example = (path: string, text: string): void => {
  mkdirSync(dirname(join(dataDir, 'examples', path)), { recursive: true });
  writeFileSync(join(dataDir, 'examples', path), text);
};
example('hostile/manifest.yaml', 'version: 1\nconfig: {yaml_path: project.yaml}\n');
example('hostile/project.yaml', JSON.stringify(configOf(touching('from-example'))));
mkdirSync(join(dataDir, 'templates'), { recursive: true });
writeFileSync(join(dataDir, 'templates/tools.yaml'), JSON.stringify(configOf(touching('from-template'))));

const at = (project: string, rest = ''): string => `/v1/projects/ns/${project}/mcp/servers${rest}`;
const put = (name: string, project: string, ...servers: McpServer[]): Scenario => ({
  name,
  method: 'PUT',
  path: `/v1/projects/ns/${project}`,
  body: { config: configOf(...servers) },
});
let seen: Server[] = [];
const list = (name: string, project: string, json: (servers: Server[]) => void, more: Partial<Scenario> = {}): Scenario => ({
  name,
  path: at(project),
  json: ({ servers }: { servers: Server[] }) => {
    seen = servers;
    json(servers);
  },
  ...more,
});
const post = (name: string, path: string, more: Partial<Scenario> = {}): Scenario => ({ name, method: 'POST', path, ...more });
const didNotRun = (file: string): void => assert.equal(existsSync(join(dataDir, file)), false, `${file} was made`);
const states = (servers: Server[]): string[] => servers.map(({ name, approved, state }) => `${name} ${approved} ${state}`);

const operators: Scenario[] = [
  list(
    'lists servers of the file on disk as approved, and starts none',
    'own',
    (servers) => {
      assert.deepEqual(states(servers), ['everything true off', 'exits true off']);
      assert.match(servers[0]!.target, /server-everything/);
      assert.match(servers[0]!.fingerprint, /^[0-9a-f]{64}$/);
    },
    { lacks: [SECRET] },
  ),
  post('starts a server', '/v1/projects/ns/own/mcp/servers/everything/restart', {
    json: ({ state, tools, protocol }: Server) => {
      assert.equal(state, 'ready');
      assert.equal(protocol, '2025-11-25');
      const echo = tools.find(({ name }) => name === 'everything__echo');
      assert.equal(echo?.tool, 'echo');
      assert.match(JSON.stringify(echo?.parameters), /"type":"object"/);
    },
    lacks: [SECRET],
  }),
  {
    name: 'lists the resources of a server',
    path: '/v1/projects/ns/own/mcp/servers/everything/resources',
    json: ({ resources, templates }) => {
      assert.ok(
        resources.some(
          ({ uri, mime_type: type }: { uri: string; mime_type: string }) => uri.endsWith('architecture.md') && type === 'text/markdown',
        ),
      );
      assert.ok(templates.some((one: { uri_template: string }) => one.uri_template.includes('{')));
    },
  },
  {
    name: 'lists the prompts of a server',
    path: '/v1/projects/ns/own/mcp/servers/everything/prompts',
    contains: [
      '{"name":"args-prompt","description":"A prompt with two arguments, one required and one optional","arguments":[{"name":"city","description":"Name of the city","required":true}',
    ],
  },
  post('says why a server did not start', '/v1/projects/ns/own/mcp/servers/exits/restart', {
    contains: ['"state":"restarting"', 'exited with code 3', 'The licence has expired'],
  }),
  {
    name: 'says why the resources of a server cannot be listed',
    path: '/v1/projects/ns/own/mcp/servers/exits/resources',
    status: 503,
    contains: ["Tool server 'exits' of project ns/own exited with code 3"],
  },
  post('knows no other server', '/v1/projects/ns/own/mcp/servers/other/restart', {
    status: 404,
    contains: ["has no tool server 'other'. Its servers: everything, exits."],
  }),
  post('approves no other server', '/v1/projects/ns/own/mcp/servers/other/approve', { status: 404 }),
  post('takes no approval from another server', '/v1/projects/ns/own/mcp/servers/%2e%2e/revoke', { status: 404 }),
  { name: 'knows no other project', path: at('none'), status: 404 },
  post('ends a server that is revoked', '/v1/projects/ns/own/mcp/servers/everything/revoke', {
    contains: ['"approved":false', '"state":"off"'],
  }),
  post('does not start one that was revoked', '/v1/projects/ns/own/mcp/servers/everything/restart', {
    status: 403,
    contains: ['may not run yet', '/approve'],
  }),
  { name: 'lists no resources of one that was revoked', path: '/v1/projects/ns/own/mcp/servers/everything/resources', status: 403 },
  { name: 'lists no prompts of it', path: '/v1/projects/ns/own/mcp/servers/everything/prompts', status: 403 },
  post('starts it when it is approved again', '/v1/projects/ns/own/mcp/servers/everything/approve', {
    contains: ['"approved":true', '"state":"ready"'],
  }),
];

let stage: RetrievalStage;
const chat = (name: string, request: object, more: Partial<Scenario>): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/projects/ns/own/chat/completions',
  body: { messages: [{ role: 'user', content: 'Hello' }], ...request },
  ...more,
});
const inContext = (name: string, wanted: object, more: Partial<Scenario>): Scenario => chat(name, { mcp_context: [wanted] }, more);
const DOCUMENT = 'demo://resource/static/document/architecture.md';

const chats: Scenario[] = [
  inContext(
    'gives the model a resource',
    { server: 'everything', resource: DOCUMENT },
    {
      json: () => {
        const [system] = stage.provider.asked.at(-1)!.request.messages;
        assert.match(String(system!.content), /<passage>\n\[resource demo:\/\/\S+ of server "everything"\]\n# Everything Server/);
      },
    },
  ),
  inContext(
    'gives the model a prompt',
    { server: 'everything', prompt: 'args-prompt', arguments: { city: 'Bern' } },
    {
      json: () => {
        const [system] = stage.provider.asked.at(-1)!.request.messages;
        assert.match(String(system!.content), /\[prompt "args-prompt" of server "everything"\]\nWhat's weather in Bern\?/);
      },
    },
  ),
  inContext(
    'knows a resource only by its address',
    { server: 'everything', resource: 'demo://none' },
    {
      status: 503,
      contains: ["The resource demo://none could not be read: tool server 'everything' answered with an error"],
    },
  ),
  inContext(
    'takes either a resource or a prompt',
    { server: 'everything' },
    { status: 422, contains: ['mcp_context.0: give either a resource or a prompt'] },
  ),
  inContext('knows no resource of another server', { server: 'other', resource: DOCUMENT }, { status: 404 }),
  chat(
    'says in a note which server is missing, and gives back what a tool of another said',
    {},
    {
      json: (body) => {
        assert.match(body.x_tool_notes[0], /^The tools of server 'exits' are missing: it exited with code 3/);
        assert.deepEqual(
          body.x_tool_calls.map((one: { name: string }) => one.name),
          ['everything__echo'],
        );
        assert.equal(body.choices[0].message.content, 'The server says: Echo: over there');
      },
    },
  ),
];

const overHttp: Scenario[] = [
  put('takes a server over HTTP', 'bare', touching('from-put')),
  list('lets it wait for approval', 'bare', (servers) => {
    assert.deepEqual(states(servers), ['touching false off']);
    assert.match(servers[0]!.reason ?? '', /waits for approval/);
  }),
  post('does not restart it', at('bare', '/touching/restart'), { status: 403, json: () => didNotRun('from-put') }),
  put('takes another edit that keeps it', 'bare', touching('from-put'), scripted('good')),
  list('lets both wait', 'bare', (servers) => assert.deepEqual(states(servers), ['touching false off', 'good false off'])),
  post('refuses an approval of other settings', at('bare', `/good/approve?fingerprint=${'0'.repeat(64)}`), {
    status: 409,
    contains: ['other settings'],
  }),
  post('refuses a fingerprint that is none', at('bare', '/good/approve?fingerprint=x'), { status: 422 }),
  {
    name: 'approves the settings that were looked at, and starts the server',
    method: 'POST',
    path: () => at('bare', `/good/approve?fingerprint=${seen.find(({ name }) => name === 'good')!.fingerprint}`),
    contains: ['"approved":true', '"state":"ready"', '"name":"good__echo"'],
  },
  put('takes the same file again', 'bare', touching('from-put'), scripted('good')),
  list('goes on with what was approved', 'bare', (servers) => assert.deepEqual(states(servers), ['touching false off', 'good true ready'])),
  put('takes other arguments of an approved server', 'bare', { ...scripted('good'), args: [...scripted('good').args!, 'more'] }),
  list('asks anew', 'bare', (servers) => assert.deepEqual(states(servers), ['good false off'])),
  put('takes the approved arguments back', 'bare', scripted('good')),
  list('asks anew for what had gone', 'bare', (servers) => assert.deepEqual(states(servers), ['good false off'])),
  put('takes a server with odd characters', 'bare', { ...touching('from-odd-text'), env: { A: '\ud800 \u0085 \r x' } }),
  list('knows it all the same', 'bare', (servers) => assert.deepEqual(states(servers), ['touching false off'])),
  {
    name: 'makes a project from a template that names a server',
    method: 'POST',
    path: '/v1/projects/ns',
    body: { name: 'made', config_template: 'tools' },
  },
  list('lets it wait', 'made', (servers) => assert.deepEqual(states(servers), ['touching false off'])),
  post('imports a hostile example', '/v1/examples/hostile/import-project', { body: { namespace: 'ns', name: 'imported' } }),
  list('starts nothing of it', 'imported', (servers) => {
    assert.deepEqual(states(servers), ['touching false off']);
    didNotRun('from-example');
  }),
  list('approves nothing while the list of approvals is damaged', 'damaged', (servers) =>
    assert.deepEqual(states(servers), ['good false off']),
  ),
  post('says how to mend that', at('damaged', '/good/approve'), { status: 409, contains: ['.mcp-unapproved.json', 'Remove that file'] }),
  {
    name: 'keeps the approval out of answers about the project',
    path: '/v1/projects/ns/bare',
    lacks: ['unapproved'],
    json: async () => {
      // As it is read from the file after a restart.
      const { directory, config } = new Projects({ dataDir }).load('ns', 'bare');
      const unapproved = await readUnapproved(directory);
      assert.deepEqual(
        config.mcp?.servers?.map((one) => unapproved.has(fingerprintOf(one))),
        [true],
      );
      for (const file of ['from-put', 'from-odd-text', 'from-template', 'from-example']) didNotRun(file);
      assert.match(readFileSync(join(dataDir, 'projects/ns/bare/.mcp-unapproved.json'), 'utf8'), /[0-9a-f]{64}/);
    },
  },
];

scenarios<Runtime>(
  'tool servers',
  {
    endpoints: coreEndpoints,
    context: async () => {
      stage = await openRetrievalStage(dataDir);
      stage.provider.say(({ messages, tools }) => {
        const last = messages.at(-1)!;
        const call = {
          type: 'tool_call',
          index: 0,
          id: 'call_1',
          name: 'everything__echo',
          arguments: '{"message":"over there"}',
        } as const;
        if (last.role === 'tool') return [{ type: 'text', text: `The server says: ${last.content}` }, FINISH];
        if (tools?.some((tool) => tool.function.name === 'everything__echo')) return [call, { ...FINISH, reason: 'tool_calls' } as Step];
        return [{ type: 'text', text: 'No tools.' }, FINISH];
      });
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  [...operators, ...chats, ...overHttp],
);

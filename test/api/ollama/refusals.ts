import assert from 'node:assert/strict';
import { type Answer, user } from '../../support/ollama-stage.js';
import type { Scenario } from '../../support/scenario.js';

const inOllamasShape = (body: Answer): void => {
  assert.deepEqual(Object.keys(body), ['error']);
  assert.equal(typeof body.error, 'string');
};
const refused = (name: string, path: string, body: unknown, status: number, text: string, method = 'POST'): Scenario => ({
  name,
  method,
  path,
  body,
  status,
  contains: [text],
  json: inOllamasShape,
});

/** What is refused, in the shape of Ollama's errors. */
export const REFUSED: Scenario[] = [
  refused(
    'refuses an unknown model in its words',
    '/api/chat',
    { model: 'llama3.2', messages: user('a') },
    404,
    "model 'llama3.2' not found: it is not on this machine",
  ),
  refused('also of a prompt', '/api/generate', { model: 'llama3.2:latest', prompt: 'a' }, 404, "model 'llama3.2:latest' not found"),
  refused('also of vectors', '/api/embed', { model: 'org/none', input: 'a' }, 404, "model 'org/none' not found"),
  refused('also of what is shown', '/api/show', { model: 'none' }, 404, "model 'none' not found"),
  refused('also of what is copied', '/api/copy', { source: 'none', destination: 'b' }, 404, "model 'none' not found"),
  refused('also of what is deleted', '/api/delete', { model: 'org/none' }, 404, 'not', 'DELETE'),
  refused('a model is named', '/api/show', {}, 400, 'model is missing'),
  refused('a role that is none', '/api/chat', { model: 'puppet', messages: [{ role: 'robot', content: 'a' }] }, 400, 'messages'),
  refused('a wrong type', '/api/chat', { model: 'puppet', messages: 'hello' }, 400, 'messages'),
  refused(
    'options of a wrong type',
    '/api/chat',
    { model: 'puppet', messages: user('a'), options: { temperature: 'hot' } },
    400,
    'temperature',
  ),
  refused(
    'a sampler that is not there',
    '/api/chat',
    { model: 'puppet', messages: user('a'), options: { mirostat: 2 } },
    400,
    'options.mirostat is 2',
  ),
  refused(
    'a duration of an embedder that is none',
    '/api/embed',
    { model: 'tiny/embedder', input: 'a', keep_alive: 'soon' },
    400,
    'keep_alive',
  ),
  refused('a duration that is none', '/api/chat', { model: 'puppet', messages: user('a'), keep_alive: 'soon' }, 400, 'keep_alive'),
  refused('a format that is none', '/api/chat', { model: 'puppet', messages: user('a'), format: 'xml' }, 400, 'format'),
  refused('deep JSON', '/api/chat', `{"model":"puppet","messages":${'['.repeat(70)}${']'.repeat(70)}}`, 400, 'deep'),
  refused('broken JSON', '/api/chat', '{"model":', 400, 'JSON'),
  refused('17 MB', '/api/chat', { model: 'puppet', messages: user('a'.repeat(17 * 2 ** 20)) }, 413, 'bytes'),
  refused('no push', '/api/push', { model: 'puppet' }, 405, 'Models are not pushed from here'),
  refused(
    'an unknown instruction by its name',
    '/api/create',
    { name: 'a', modelfile: 'FROM puppet\nFLAVOUR sweet' },
    400,
    'line 2: unknown instruction',
  ),
  refused(
    'more instructions than anybody writes',
    '/api/create',
    { name: 'a', modelfile: `FROM puppet\n${'MESSAGE user x\n'.repeat(3_000)}` },
    400,
    'more than 2000',
  ),
  refused('a text without an end', '/api/create', { name: 'a', modelfile: 'FROM puppet\nSYSTEM """a' }, 400, 'never end'),
  refused('a model of nothing', '/api/create', { name: 'a', modelfile: 'SYSTEM a' }, 400, '\\"from\\" is missing'),
  refused('a model of what is not there', '/api/create', { name: 'a', from: 'none' }, 404, "model 'none' not found"),
  refused('a name that is none', '/api/create', { name: '../a', from: 'puppet' }, 400, 'cannot be the name of a model'),
  refused(
    'the name of a model of this machine',
    '/api/create',
    { name: 'puppet', from: 'quern-tiny' },
    409,
    'puppet is a model of this machine',
  ),
  refused('an unknown parameter', '/api/create', { name: 'a', modelfile: 'FROM puppet\nPARAMETER foo 3' }, 400, "unknown parameter 'foo'"),
  refused('also as a member', '/api/create', { name: 'a', from: 'puppet', parameters: { foo: 3 } }, 400, "unknown parameter 'foo'"),
  refused('a parameter of a wrong type', '/api/create', { name: 'a', modelfile: 'FROM puppet\nPARAMETER num_ctx many' }, 400, 'num_ctx'),
  refused(
    'an adapter',
    '/api/create',
    { name: 'a', modelfile: 'FROM puppet\nADAPTER ./a.gguf' },
    404,
    'LoRA adapter \\"./a.gguf\\" not found',
  ),
  refused('an adapter of a chat', '/api/chat', { model: 'puppet', messages: user('a'), adapters: ['a.gguf'] }, 400, 'adapters names'),
  refused('of a prompt', '/api/generate', { model: 'puppet', prompt: 'a', options: { lora: 'a.gguf' } }, 400, 'lora names a.gguf'),
  refused('of vectors', '/api/embed', { model: 'tiny/embedder', input: 'a', lora: 'a.gguf' }, 400, 'lora names a.gguf'),
  refused('uploaded weights', '/api/create', { name: 'a', from: 'puppet', files: { 'a.gguf': 'sha256:0' } }, 400, 'uploaded weights'),
  refused(
    'a template with what has no translation',
    '/api/create',
    { name: 'a', from: 'puppet', template: '{{ with .Prompt }}{{ . }}{{ end }}' },
    400,
    'TEMPLATE has {{ with .Prompt }}',
  ),
  refused(
    'a template that breaks off',
    '/api/generate',
    { model: 'puppet', prompt: 'a', template: '{{ .Prompt' },
    400,
    'TEMPLATE has a {{ that is not closed',
  ),
  refused('a built-in model is not deleted', '/api/delete', { model: 'quern-tiny' }, 409, 'comes with this program', 'DELETE'),
  refused('what is not there', '/api/nothing', {}, 404, '{"error":"Nothing answers at POST /api/nothing; /docs lists every endpoint."}'),
  refused('another method', '/api/chat', undefined, 405, '{"error":"/api/chat takes POST, OPTIONS, not GET."}', 'GET'),
  refused('a pull of what no hub has', '/api/pull', { model: 'org/nowhere' }, 404, 'org/nowhere'),
];

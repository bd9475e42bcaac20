import { STANDIN_CARD } from '../built-in.js';
import { puppetModel } from '../puppet/puppet.js';
import type { ScriptTable, ToolAnswerTable } from '../puppet/script.js';
import type { GgufFile } from '../writers/gguf-writer.js';

/** The prepared answers of the stand-in model; every one of them must be true of Quern. */
export const STANDIN_SCRIPTS = {
  default: {
    triggers: [],
    answer:
      "I am Quern's built-in stand-in, not a trained language model: I know a few words and give prepared answers. " +
      'That you can read this means the daemon, the engine and your project work. For real answers, set `model` in ' +
      'project.yaml to the path of a GGUF file or to an org/repo from your model cache. Ask me for "help" to see my words.',
  },
  hello: {
    triggers: ['hello', 'hey', 'hallo', 'greetings'],
    answer:
      "Hello! I am Quern's built-in stand-in model, and the daemon works. I give prepared answers only; " +
      'to chat with a real model, set `model` in project.yaml to a GGUF path or org/repo. Say "help" for what I know.',
  },
  help: {
    triggers: ['help'],
    answer:
      'These words I know: hello, help, quern, model, project, config, api, curl, stream, session, tools, json, think, rag, ' +
      'count, time, joke, thanks, goodbye. Each gets a prepared answer; anything else gets a note on who I am.',
  },
  quern: {
    triggers: ['quern'],
    answer:
      'Quern is a local-first AI runtime in one daemon: projects, chat, retrieval, speech, vision and classical ML over HTTP. ' +
      'The core API listens on port 14345, the universal runtime on port 11540. This answer was decoded by its engine on your machine.',
  },
  model: {
    triggers: ['model', 'models', 'gguf'],
    answer:
      'To use a real model, edit the models list under runtime in project.yaml: set provider to universal and model to the path of a ' +
      'GGUF file, or to org/repo or org/repo:Q4_K_M for one in your model cache. The next request uses it; no restart is needed.',
  },
  project: {
    triggers: ['project', 'projects'],
    answer:
      'A project is a folder with one file, project.yaml, under projects/{namespace}/{project} in the data folder. List them with ' +
      'GET /v1/projects/default, make one with POST to the same path, and chat at .../chat/completions below it.',
  },
  config: {
    triggers: ['config', 'configure', 'settings', 'yaml'],
    answer:
      'All settings of a project live in its project.yaml. Edit the file by hand or PUT it through the API; an edit is seen by the ' +
      'next request, and an invalid one is refused with the path in the file and the reason.',
  },
  api: {
    triggers: ['api', 'openapi', 'endpoints', 'docs'],
    answer:
      'The API describes itself: open /docs on port 14345 in a browser, or read /openapi.json. Official OpenAI clients work with it too.',
  },
  curl: {
    triggers: ['curl', 'example'],
    answer:
      'Here is one:\n\n```sh\ncurl http://127.0.0.1:14345/v1/projects/default/quickstart/chat/completions \\\n' +
      '  -H "content-type: application/json" \\\n  -d \'{"messages": [{"role": "user", "content": "hello"}]}\'\n```\n',
  },
  stream: {
    triggers: ['stream', 'streaming'],
    answer: 'Add "stream": true to a chat request and the answer comes as server-sent events, token by token, ending with [DONE].',
  },
  session: {
    triggers: ['session', 'sessions', 'history'],
    answer:
      'Send the X-Session-ID header and Quern keeps the conversation for you: the history is added to each request, survives a restart, ' +
      'and expires after 30 minutes without a turn. X-No-Session keeps nothing.',
  },
  tools: {
    triggers: ['tool', 'tools', 'function', 'functions'],
    answer:
      'Tools in a chat request are rendered into the prompt, and a trained model answers with calls that your client carries out. ' +
      'As a stand-in I never call one by myself, but tool_choice "required" will make even me produce a well-formed call.',
  },
  json: {
    triggers: ['json'],
    answer:
      '{"model": "quern-standin", "trained": false, "purpose": "shows that the daemon works", "ports": {"core": 14345, "runtime": 11540}}',
  },
  think: {
    triggers: ['think', 'ponder', 'reason'],
    thinking: '\nI am asked to think.\nMy thoughts are prepared like my answers, so this will be short.\n',
    answer:
      'I have shown you what thinking looks like: the part before this answer came separately from it. A trained model fills it with reasoning.',
  },
  rag: {
    triggers: ['rag', 'retrieval', 'documents'],
    answer:
      'Retrieval is set up in the rag section of project.yaml: databases, embedding and retrieval strategies, and how files become chunks.',
  },
  count: { triggers: ['count'], answer: `Counting: ${Array.from({ length: 60 }, (_, index) => index + 1).join(', ')}. Done.` },
  time: { triggers: ['time', 'date', 'today'], answer: 'I have no clock: a model only sees its prompt. Your shell knows: try `date`.' },
  joke: { triggers: ['joke'], answer: 'Why did the mill refuse the cloud? It preferred to grind locally.' },
  thanks: { triggers: ['thanks', 'thank'], answer: 'You are welcome.' },
  goodbye: { triggers: ['goodbye', 'bye'], answer: 'Goodbye! The daemon stays up until you stop it.' },
} as const satisfies ScriptTable;

/** What the stand-in says after a tool's result. */
export const STANDIN_TOOL_ANSWERS = {
  default: { word: '', answer: 'The result of the tool reached me. I am a stand-in and cannot put it into words; a trained model would.' },
} as const satisfies ToolAnswerTable;

const CONTEXT = 8192;

/** The built-in model that answers until a trained one takes its place. */
export function standinModel(): GgufFile {
  return puppetModel({
    name: STANDIN_CARD.name,
    description: STANDIN_CARD.description,
    scripts: STANDIN_SCRIPTS,
    toolAnswers: STANDIN_TOOL_ANSWERS,
    contextLength: CONTEXT,
    reach: CONTEXT,
  });
}

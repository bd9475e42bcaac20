import { PROJECT_FLAG, type RawVerb, type Verb } from './verb.js';

const MODEL = { value: 'MODEL', short: 'm', meaning: 'the model' } as const;
const FOLLOW = { short: 'f', meaning: 'go on with what comes' } as const;
const LINES = { value: 'N', isNumber: true, short: 'n', meaning: 'how many' } as const;
const TALKING = {
  system: { value: 'TEXT', meaning: 'what the model is told about its role' },
  file: { value: 'PATH', many: true, meaning: 'a text, picture or sound for the question; may be given several times' },
  temperature: { value: 'NUMBER', isNumber: true, meaning: 'how freely it answers' },
  'max-tokens': { value: 'N', isNumber: true, meaning: 'how long an answer may be' },
  verbose: { short: 'v', meaning: 'tokens and times after each answer' },
} as const;

/** Every verb, in the order in which the help shows them. Each loads its code when it is called. */
export const VERBS: readonly (Verb | RawVerb)[] = [
  { name: 'start', aliases: ['serve'], summary: 'both APIs (the default)', load: async () => (await import('./system/start.js')).start },
  { name: 'runtime', summary: 'the universal runtime alone', load: async () => (await import('./system/start.js')).runtime },
  {
    name: 'status',
    summary: 'whether a daemon runs, and how its parts are',
    load: async () => (await import('./system/status.js')).status,
  },
  { name: 'stop', summary: 'end the daemon that uses the data directory', load: async () => (await import('./system/status.js')).stop },
  {
    name: 'logs',
    summary: 'what a daemon said that a command started',
    flags: { follow: FOLLOW, lines: LINES },
    load: async () => (await import('./system/logs.js')).logs,
  },

  {
    name: 'run',
    words: 'MODEL [QUESTION ...]',
    summary: 'talk with a model; a question as words or from a pipe is answered once',
    flags: TALKING,
    load: async () => (await import('./chat/chat.js')).run,
  },
  {
    name: 'chat',
    words: '[QUESTION ...]',
    summary: 'talk with a project, with its prompts, tools and documents',
    flags: { ...PROJECT_FLAG, model: MODEL, ...TALKING },
    load: async () => (await import('./chat/chat.js')).chat,
  },
  {
    name: 'query',
    words: 'TEXT ...',
    summary: 'ask the documents of a project',
    flags: {
      ...PROJECT_FLAG,
      database: { value: 'NAME', meaning: 'the database (the first of the project)' },
      strategy: { value: 'NAME', meaning: 'the retrieval strategy' },
      top: { value: 'N', isNumber: true, meaning: 'how many passages' },
    },
    load: async () => (await import('./data/query.js')).query,
  },

  {
    name: 'pull',
    words: '[MODEL]',
    summary: 'download a model: org/repo, org/repo:QUANT, kokoro, piper, whisper-base ...; without a name, which suit this machine',
    load: async () => (await import('./models/pull.js')).pull,
  },
  {
    name: 'models',
    aliases: ['list', 'ls'],
    summary: 'the models on this machine',
    load: async () => (await import('./models/list.js')).list,
  },
  { name: 'ps', summary: 'the models in memory', load: async () => (await import('./system/status.js')).ps },
  {
    name: 'show',
    words: 'MODEL',
    summary: 'what a model on this machine can do',
    load: async () => (await import('./models/show.js')).show,
  },
  { name: 'rm', words: 'MODEL', summary: 'remove a model from the model cache', load: async () => (await import('./models/rm.js')).rm },
  {
    name: 'bench',
    words: '[MODEL]',
    summary: 'how fast a model reads and writes on this machine',
    flags: { rounds: { value: 'N', isNumber: true, meaning: 'how often each is measured (5)' } },
    load: async () => (await import('./models/bench.js')).bench,
  },

  {
    name: 'projects',
    words: '[NAMESPACE]',
    summary: 'the projects of a namespace (default)',
    load: async () => (await import('./data/projects.js')).projects,
  },
  {
    name: 'projects create',
    words: 'NAMESPACE/NAME',
    summary: 'make a project',
    flags: { template: { value: 'NAME', meaning: 'the template of its settings' } },
    load: async () => (await import('./data/projects.js')).createProject,
  },
  {
    name: 'projects rm',
    words: 'NAMESPACE/NAME',
    summary: 'remove a project with everything that it keeps',
    load: async () => (await import('./data/projects.js')).removeProject,
  },
  {
    name: 'config validate',
    words: 'FILE',
    summary: 'check a project file',
    load: async () => (await import('./data/config.js')).validate,
  },
  {
    name: 'config diff',
    words: 'FILE',
    summary: 'compare a project file with a project',
    flags: PROJECT_FLAG,
    load: async () => (await import('./data/config.js')).diff,
  },
  {
    name: 'datasets',
    summary: 'the datasets of a project',
    flags: PROJECT_FLAG,
    load: async () => (await import('./data/datasets.js')).datasets,
  },
  {
    name: 'datasets create',
    words: 'DATASET',
    summary: 'make a dataset',
    flags: {
      ...PROJECT_FLAG,
      strategy: { value: 'NAME', meaning: 'how its files are read (the first strategy of the project)' },
      database: { value: 'NAME', meaning: 'where its passages go (the first database of the project)' },
    },
    load: async () => (await import('./data/datasets.js')).createDataset,
  },
  {
    name: 'datasets add',
    words: 'DATASET FILE ...',
    summary: 'add files, or the files of folders, and process them',
    flags: { ...PROJECT_FLAG, 'no-process': { meaning: 'only store them' } },
    load: async () => (await import('./data/datasets.js')).addFiles,
  },
  {
    name: 'datasets process',
    words: 'DATASET',
    summary: 'process what is new in a dataset',
    flags: PROJECT_FLAG,
    load: async () => (await import('./data/datasets.js')).processDataset,
  },
  {
    name: 'datasets watch',
    words: 'DATASET FOLDER',
    summary: 'add a folder, and then each file that comes or changes',
    flags: PROJECT_FLAG,
    load: async () => (await import('./data/datasets.js')).watchDataset,
  },
  {
    name: 'datasets rm',
    words: 'DATASET',
    summary: 'remove a dataset with its files and passages',
    flags: PROJECT_FLAG,
    load: async () => (await import('./data/datasets.js')).removeDataset,
  },
  {
    name: 'events',
    summary: 'what a project did last',
    flags: {
      ...PROJECT_FLAG,
      server: { meaning: 'of the server instead of a project' },
      type: { value: 'TYPE', meaning: 'only of this type' },
      status: { value: 'STATUS', meaning: 'only with this state' },
      follow: FOLLOW,
      lines: LINES,
    },
    load: async () => (await import('./data/events.js')).events,
  },
  {
    name: 'events show',
    words: 'EVENT',
    summary: 'one event with its steps',
    flags: { ...PROJECT_FLAG, server: { meaning: 'of the server instead of a project' } },
    load: async () => (await import('./data/events.js')).showEvent,
  },

  {
    name: 'classify',
    words: 'CLASSIFIER [TEXT ...]',
    summary: 'put texts into classes; without words each line of a file or a pipe',
    flags: { file: { value: 'PATH', meaning: 'a file with a text on each line' } },
    load: async () => (await import('./ml/classify.js')).classify,
  },
  { name: 'classify list', summary: 'the classifiers', load: async () => (await import('./ml/classify.js')).classifiers },
  {
    name: 'classify fit',
    words: 'CLASSIFIER FILE',
    summary: 'train a classifier on a table (CSV, JSON, JSON Lines)',
    flags: {
      text: { value: 'COLUMN', meaning: 'the column of texts (text)' },
      label: { value: 'COLUMN', meaning: 'the column of classes (label)' },
      'base-model': { value: 'MODEL', meaning: 'the encoder below it' },
    },
    load: async () => (await import('./ml/classify.js')).fitClassifier,
  },
  { name: 'anomaly', aliases: ['anomaly list'], summary: 'the detectors', load: async () => (await import('./ml/anomaly.js')).anomalies },
  {
    name: 'anomaly fit',
    words: 'DETECTOR FILE',
    summary: 'learn from a table what is usual',
    flags: {
      backend: { value: 'NAME', meaning: 'the method (isolation_forest)' },
      contamination: { value: 'SHARE', isNumber: true, meaning: 'the share of rows that are strange' },
    },
    load: async () => (await import('./ml/anomaly.js')).fitAnomaly,
  },
  {
    name: 'anomaly score',
    words: 'DETECTOR FILE',
    summary: 'say how strange each row of a table is',
    flags: {
      backend: { value: 'NAME', meaning: 'the method (isolation_forest)' },
      threshold: { value: 'SCORE', isNumber: true, meaning: 'what counts as strange' },
    },
    load: async () => (await import('./ml/anomaly.js')).scoreAnomaly,
  },

  {
    name: 'speak',
    words: '[TEXT ...]',
    summary: 'speak a text into a file',
    flags: {
      output: { value: 'FILE', short: 'o', meaning: 'where to (speech.wav); - is standard output' },
      voice: { value: 'VOICE', meaning: 'who speaks' },
      format: { value: 'FORMAT', meaning: 'wav, mp3, opus, aac, flac or pcm (what the name of the file says)' },
      speed: { value: 'NUMBER', isNumber: true, meaning: 'from 0.25 to 4 (1)' },
      model: MODEL,
    },
    load: async () => (await import('./speech/speak.js')).speak,
  },
  { name: 'voices', summary: 'the voices that can speak', load: async () => (await import('./speech/speak.js')).voices },
  {
    name: 'transcribe',
    words: 'FILE',
    summary: 'write down what is said in a recording',
    flags: {
      model: MODEL,
      language: { value: 'CODE', meaning: 'what is spoken, such as en; heard from the recording without it' },
      format: { value: 'FORMAT', meaning: 'text, srt or vtt (text)' },
      translate: { meaning: 'in English, whatever is spoken' },
    },
    load: async () => (await import('./speech/transcribe.js')).transcribe,
  },

  {
    name: 'mcp list',
    aliases: ['mcp'],
    words: '[NAMESPACE[/PROJECT]]',
    summary: 'the tool servers of projects',
    load: async () => (await import('./mcp/servers.js')).list,
  },
  {
    name: 'mcp approve',
    words: 'NAMESPACE/PROJECT/SERVER',
    summary: 'show what a tool server is, and let it run',
    load: async () => (await import('./mcp/servers.js')).approve,
  },
  {
    name: 'mcp revoke',
    words: 'NAMESPACE/PROJECT/SERVER',
    summary: 'end a tool server, and let it run no more',
    load: async () => (await import('./mcp/servers.js')).revoke,
  },
  {
    name: 'mcp restart',
    words: 'NAMESPACE/PROJECT/SERVER',
    summary: 'start a tool server anew',
    load: async () => (await import('./mcp/servers.js')).restart,
  },
  {
    name: 'mcp calls',
    words: 'NAMESPACE/PROJECT',
    summary: 'calls of tools that wait for you',
    load: async () => (await import('./mcp/calls.js')).calls,
  },
  {
    name: 'mcp allow',
    words: 'NAMESPACE/PROJECT/CALL',
    summary: 'let a call be made',
    load: async () => (await import('./mcp/calls.js')).allow,
  },
  { name: 'mcp deny', words: 'NAMESPACE/PROJECT/CALL', summary: 'refuse a call', load: async () => (await import('./mcp/calls.js')).deny },
  {
    name: 'mcp serve',
    summary: 'this daemon as an MCP server on standard input and output',
    flags: {
      start: { meaning: 'start the daemon where none runs' },
      project: { value: 'NAMESPACE/NAME', meaning: 'offer this project only' },
      tools: { value: 'A,B', meaning: 'offer these tools only' },
      'read-only': { meaning: 'offer tools that change nothing' },
    },
    load: async () => (await import('./mcp/serve.js')).serve,
  },
  {
    name: 'accounts',
    words: '[COMMAND]',
    isRaw: true,
    summary: 'the accounts library for servers of your own: init, validate, doctor, plans push ... (quern accounts help)',
    load: async () => (await import('./system/accounts.js')).accounts,
  },

  {
    name: 'backup',
    words: 'FOLDER',
    summary: 'copy all that Quern keeps into a new folder below FOLDER, while it runs',
    flags: { models: { meaning: 'also models that lie in the data directory' } },
    load: async () => (await import('./system/backup.js')).backup,
  },
  {
    name: 'restore',
    words: 'BACKUP',
    summary: 'put a backup, or the newest of a folder, in the place of the data directory',
    load: async () => (await import('./system/backup.js')).restore,
  },
  {
    name: 'doctor',
    summary: 'what this machine has, what is used, and what to mend',
    load: async () => (await import('./system/doctor.js')).doctor,
  },
  {
    name: 'completion',
    words: 'SHELL',
    summary: 'a script that completes these commands in bash, zsh or fish',
    load: async () => (await import('./system/completion.js')).completion,
  },
  { name: 'version', summary: 'the version', load: async () => (await import('./system/version.js')).version },
  {
    name: 'help',
    words: '[COMMAND ...]',
    summary: 'this list, or how one command is used',
    load: async () => (await import('./system/help.js')).help,
  },
];

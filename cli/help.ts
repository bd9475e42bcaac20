import { OPTIONS } from '../gateway/daemon/options.js';

/** Prints the commands and options. */
export function help(): void {
  const width = 2 + Math.max(...Object.values(OPTIONS).map(([variable]) => variable.length));
  const rows = Object.entries(OPTIONS).map(([flag, [variable, meaning]]) => `  --${flag.padEnd(18)}${variable.padEnd(width)}${meaning}`);
  process.stdout.write(
    [
      'quern: a local AI runtime in one daemon.',
      '',
      'Commands',
      '  quern start      both APIs (the default)',
      '  quern runtime    the universal runtime alone',
      '  quern pull MODEL download a model: org/repo, org/repo:QUANT, kokoro, piper, whisper-base ...',
      '  quern models     the models on this machine',
      '  quern rm MODEL   remove a model from the model cache',
      '  quern mcp serve  this daemon as an MCP server on standard input and output; --start starts the daemon too,',
      '                   --project NAMESPACE/NAME, --tools A,B and --read-only say what a client is offered',
      '  quern mcp        the tool servers of projects: list [NAMESPACE[/PROJECT]], and restart, approve or revoke NAMESPACE/PROJECT/SERVER;',
      '                   calls NAMESPACE/PROJECT that wait for you, and allow or deny NAMESPACE/PROJECT/CALL',
      '  quern accounts   the accounts library for servers of your own: init, validate, doctor, plans push ... (quern accounts help)',
      '  quern version    the version',
      '',
      'The model cache is shared with other programs: HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE hold.',
      '',
      `${'Options'.padEnd(20)}${'environment'.padEnd(width)}meaning (default)`,
      ...rows,
      '',
    ].join('\n'),
  );
}

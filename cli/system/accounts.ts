/** `quern accounts`: the accounts library on the command line, for the module file of a server. Nothing of the library is read before. */
export async function accounts(args: string[]): Promise<void> {
  const [{ runCommand }, { COMMANDS }] = await Promise.all([
    import('../../accounts/commands/command.js'),
    import('../../accounts/commands/commands.js'),
  ]);
  process.exitCode = await runCommand(COMMANDS, args, (text) => process.stdout.write(`${text}\n`), process.env);
}

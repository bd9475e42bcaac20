import { Failure } from '../../schemas/errors.js';
import { type Call, COMMON_FLAGS, type Run } from '../verb.js';

/** The words that may follow each beginning of a command line: `''` for the first word, a verb for its second words and flags. */
function followers(verbs: Call['verbs']): Map<string, string[]> {
  const following = new Map<string, Set<string>>();
  const add = (start: string, words: readonly string[]): void => {
    const known = following.get(start) ?? new Set<string>();
    for (const word of words) known.add(word);
    following.set(start, known);
  };
  for (const verb of verbs)
    for (const name of [verb.name, ...(verb.aliases ?? [])]) {
      const [first = '', second] = name.split(' ');
      add('', [first]);
      if (second !== undefined) add(first, [second]);
      const flags = 'isRaw' in verb ? [] : Object.keys({ ...verb.flags, ...COMMON_FLAGS }).map((flag) => `--${flag}`);
      add(name, [...flags, '--help']);
    }
  return new Map([...following].map(([start, words]) => [start, [...words].sort()]));
}

function bash(following: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...following].map(([start, words]) => `    "${start}") words="${words.join(' ')}" ;;`);
  return `_quern() {
  local first="" second="" words="" word="\${COMP_WORDS[COMP_CWORD]}"
  [ "$COMP_CWORD" -gt 1 ] && first="\${COMP_WORDS[1]}"
  [ "$COMP_CWORD" -gt 2 ] && second="\${COMP_WORDS[2]}"
  case "$first\${second:+ $second}" in
${cases.join('\n')}
    *) case "$first" in
${cases.slice(1).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _quern quern`;
}

function fish(following: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...following].flatMap(([start, words]) => {
    const condition =
      start === ''
        ? '__fish_use_subcommand'
        : start
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    const [flags, plain] = [words.filter((word) => word.startsWith('--')), words.filter((word) => !word.startsWith('--'))];
    return [
      ...(plain.length > 0 ? [`complete -c quern ${start === '' ? '-f ' : ''}-n '${condition}' -a '${plain.join(' ')}'`] : []),
      ...flags.map((flag) => `complete -c quern -n '${condition}' -l ${flag.slice(2)}`),
    ];
  });
  return lines.join('\n');
}

const SCRIPTS: Readonly<Record<string, typeof bash>> = {
  bash,
  // zsh runs the script of bash.
  zsh: (following) => `autoload -U +X bashcompinit && bashcompinit\n${bash(following)}`,
  fish,
};

/** Prints a script that completes commands; the shell reads it by `source <(quern completion bash)`. */
export const completion: Run = async ({ words: [shell = ''], out, verbs }) => {
  const script = SCRIPTS[shell];
  if (!script) throw new Failure('bad_request', `there is no script for "${shell}": use ${Object.keys(SCRIPTS).join(', ')}.`);
  const text = script(followers(verbs));
  return { result: { shell, script: text }, show: () => out.line(text) };
};

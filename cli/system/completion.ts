import { Failure } from '../../schemas/errors.js';
import { type Call, type Flag, flagsOf, type Run } from '../verb.js';

/** What may follow the words of a command line: after each beginning its next words, and the flags of each verb. */
interface Followers {
  /** `''` has the first words, and the first word of two its second words. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  /** Flags by the name of their verb, those of two words first. */
  readonly flags: ReadonlyMap<string, Readonly<Record<string, Flag>>>;
}

function followersIn(verbs: Call['verbs']): Followers {
  const words = new Map<string, Set<string>>([
    ['help', new Set(verbs.map(({ name }) => name.split(' ')[0]!))],
    ['completion', new Set(Object.keys(SCRIPTS))],
  ]);
  const flags = new Map<string, Record<string, Flag>>();
  const names = verbs.flatMap((verb) => [verb.name, ...(verb.aliases ?? [])].map((name) => ({ verb, parts: name.split(' ') })));
  for (const { verb, parts } of names.sort((a, b) => b.parts.length - a.parts.length)) {
    for (const [at, part] of parts.entries()) {
      const start = parts.slice(0, at).join(' ');
      words.set(start, (words.get(start) ?? new Set()).add(part));
    }
    flags.set(parts.join(' '), { ...flagsOf(verb), help: { meaning: 'how the command is used' } });
  }
  return { words: new Map([...words].map(([start, next]) => [start, [...next].sort()])), flags };
}

/** A word that is no flag, where none of ours may stand, is a file: the shell's own completion. */
function bash({ words, flags }: Followers): string {
  const dashed = (verb: string): string =>
    Object.keys(flags.get(verb)!)
      .map((flag) => `--${flag}`)
      .join(' ');
  return `_quern() {
  local first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" word="\${COMP_WORDS[COMP_CWORD]}" words=""
  case "$word" in
    -*) case "$first $second " in
${[...flags.keys()].map((verb) => `      "${verb} "*) words="${dashed(verb)}" ;;`).join('\n')}
      -*) words="${dashed('start')}" ;;
    esac ;;
    *) case "$COMP_CWORD \${COMP_WORDS[COMP_CWORD-1]}" in
${[...words].map(([start, next]) => `      ${start === '' ? '"1 "*' : `"2 ${start}"`}) words="${next.join(' ')}" ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _quern quern`;
}

/** Its conditions look at the words before the cursor, without `quern` itself. */
function fish({ words, flags }: Followers): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const optionOf = (verb: string, name: string, { short, value, meaning }: Flag): string =>
    `complete -c quern -n '__quern_in ${verb}' -l ${name}${short ? ` -s ${short}` : ''}${value ? ' -r' : ''} -d ${quoted(meaning)}`;
  return [
    'function __quern_after',
    '  set -l words (commandline -opc)',
    '  set -e words[1]',
    '  test "$words" = "$argv"',
    'end',
    'function __quern_in',
    '  set -l words (commandline -opc)',
    '  set -e words[1]',
    '  string match -q -- "$argv *" "$words "',
    'end',
    ...[...words].map(([start, next]) => `complete -c quern -f -n '__quern_after ${start}' -a '${next.join(' ')}'`),
    ...[...flags].flatMap(([verb, own]) => Object.entries(own).map(([name, flag]) => optionOf(verb, name, flag))),
  ].join('\n');
}

const SCRIPTS: Readonly<Record<string, (followers: Followers) => string>> = {
  bash,
  // zsh runs the script of bash.
  zsh: (followers) => `autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
${bash(followers)}`,
  fish,
};

/** Prints a script that completes commands; the shell reads it by `source <(quern completion bash)`. */
export const completion: Run = async ({ words: [shell = ''], out, verbs }) => {
  const script = SCRIPTS[shell];
  if (!script) throw new Failure('bad_request', `there is no script for "${shell}": use ${Object.keys(SCRIPTS).join(', ')}.`);
  const text = script(followersIn(verbs));
  return { result: { shell, script: text }, show: () => out.line(text) };
};

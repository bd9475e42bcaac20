import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { makePrivateFolder } from '../../runtime/base/files.js';
import { Failure } from '../../schemas/errors.js';
import type { Call } from '../verb.js';
import { contentOf } from './attachments.js';
import { printAnswer, type Talk } from './talk.js';

const HISTORY_LINES = 1000;
/** Opens and closes a message of several lines. */
const BLOCK = '"""';
const PROMPT = '> ';
const PROMPT_MORE = '. ';

const HELP = [
  ['/help', 'this list'],
  ['/clear', 'forget what was said'],
  ['/system TEXT', 'tell the model its role, and begin anew; without TEXT the role is shown'],
  ['/set NAME VALUE', 'a member of the requests, such as temperature 0.2 or max_tokens 200; without VALUE it is taken away'],
  ['/file PATH', 'add a text, picture or sound to the next message; a path dropped into a message does so too'],
  ['/show', 'who answers, and the settings'],
  ['/verbose', 'show tokens and times after each answer, or no more'],
  ['/save FILE', 'write what was said as Markdown; "/save! FILE" also over a file that is there'],
  ['/bye', 'end; Ctrl+D does so too. Ctrl+C stops an answer, or takes back what is being typed'],
] as const;

/** Joins lines to a message: those between `"""`, and those of which all but the last end with a backslash. */
export class Composer {
  #lines: string[] = [];
  #form: 'single' | 'quoted' | 'escaped' = 'single';

  /** Whether more lines must come. */
  get isOpen(): boolean {
    return this.#form !== 'single';
  }

  /** Forgets the lines of a message that is not complete. */
  drop(): void {
    this.#lines = [];
    this.#form = 'single';
  }

  /** Takes a line, and gives the message that it completes; null while more must come. */
  add(line: string): string | null {
    let text = line;
    if (!this.isOpen) {
      this.#form = line.startsWith(BLOCK) ? 'quoted' : line.endsWith('\\') ? 'escaped' : 'single';
      if (this.#form === 'quoted') text = line.slice(BLOCK.length);
    }
    const end = this.#form === 'quoted' ? BLOCK : '\\';
    const isLast = text.trimEnd().endsWith(end) === (this.#form === 'quoted');
    const hasEnd = this.#form !== 'single' && text.trimEnd().endsWith(end);
    this.#lines.push(hasEnd ? text.trimEnd().slice(0, -end.length) : text);
    if (!isLast) return null;
    this.#form = 'single';
    return this.#lines.splice(0).join('\n');
  }
}

/** A conversation at a terminal: lines are messages, and lines with `/` are commands. */
class Conversation {
  readonly #call: Call;
  readonly #talk: Talk;
  readonly #lines: Interface;
  readonly #files: string[] = [];
  readonly #composer = new Composer();
  #isVerbose: boolean;
  #answering: AbortController | undefined;
  #isClosed = false;

  constructor(call: Call, talk: Talk, lines: Interface) {
    this.#call = call;
    this.#talk = talk;
    this.#lines = lines;
    this.#isVerbose = call.flags.verbose === true;
    lines.once('close', () => (this.#isClosed = true));
    lines.on('SIGINT', () => this.#interrupt());
  }

  /** Ctrl+C: stops an answer, else takes back what is being typed, else ends. */
  #interrupt(): void {
    if (this.#answering) this.#answering.abort(new Failure('bad_request', 'stopped'));
    else if (this.#lines.line === '' && !this.#composer.isOpen) this.#lines.close();
    else {
      this.#composer.drop();
      // To the end of the line, and away with it.
      this.#lines.write(null, { ctrl: true, name: 'e' });
      this.#lines.write(null, { ctrl: true, name: 'u' });
      this.#lines.setPrompt(PROMPT);
      this.#lines.prompt();
    }
  }

  /** Answers message after message until the person ends it. */
  async hold(): Promise<void> {
    const composer = this.#composer;
    this.#lines.setPrompt(PROMPT);
    this.#lines.prompt();
    for await (const line of this.#lines) {
      // A path begins with a slash too.
      const isCommand = !composer.isOpen && /^\/[a-z?]+!?(?:\s|$)/.test(line);
      if (isCommand && !(await this.#command(line))) break;
      const message = isCommand ? null : composer.add(line);
      if (message !== null && (message.trim() !== '' || this.#files.length > 0)) await this.#answer(message.trim());
      // Lines that were typed before the end are answered still.
      if (this.#isClosed) continue;
      this.#lines.setPrompt(composer.isOpen ? PROMPT_MORE : PROMPT);
      this.#lines.prompt();
    }
    // The prompt stands there still, unless /bye ended it.
    if (this.#isClosed) this.#call.out.line();
  }

  async #answer(text: string): Promise<void> {
    const { out } = this.#call;
    this.#answering = new AbortController();
    try {
      const content = await contentOf(text, this.#files.splice(0));
      await printAnswer(this.#talk, content, { out, signal: this.#answering.signal, isVerbose: this.#isVerbose });
    } catch (error) {
      out.line();
      if (!this.#answering.signal.aborted) out.note((error as Error).message);
    } finally {
      this.#answering = undefined;
    }
  }

  /** Runs a command; false where it ends the conversation. */
  async #command(line: string): Promise<boolean> {
    const { out } = this.#call;
    const [name = '', ...words] = line.slice(1).trim().split(/\s+/);
    const rest = line.slice(1 + name.length).trim();
    switch (name) {
      case 'bye':
      case 'exit':
      case 'quit':
        return false;
      case 'clear':
        this.#talk.clear();
        break;
      case 'system':
        if (rest === '') out.line(this.#talk.system || 'no role is set');
        else this.#talk.system = rest;
        break;
      case 'set':
        if (words[0] === undefined) out.line(JSON.stringify(this.#talk.settings));
        else this.#talk.set(words[0], typedValue(words.slice(1).join(' ')));
        break;
      case 'file':
      case 'image':
        this.#files.push(rest);
        break;
      case 'show':
        out.line(`${this.#talk.title} ${JSON.stringify(this.#talk.settings)}`);
        break;
      case 'verbose':
        this.#isVerbose = !this.#isVerbose;
        break;
      case 'save':
      case 'save!':
        await this.#save(rest || 'conversation.md', name.endsWith('!'));
        break;
      default:
        if (name !== 'help' && name !== '?') out.line(`there is no command /${name}`);
        out.list(HELP);
    }
    return true;
  }

  async #save(file: string, isOver: boolean): Promise<void> {
    const { out } = this.#call;
    const parts = this.#talk.messages.map(({ role, content }) => {
      const text =
        typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n');
      return `**${role}**\n\n${text}\n`;
    });
    await writeFile(file, parts.join('\n'), { flag: isOver ? 'w' : 'wx' }).then(
      () => out.line(`written to ${file}`),
      (error: NodeJS.ErrnoException) =>
        out.note(error.code === 'EEXIST' ? `${file} is there already: "/save! ${file}" writes over it` : error.message),
    );
  }
}

/** A value as a person types it: JSON where it is JSON, else text; undefined where nothing is. */
function typedValue(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Holds a conversation at a terminal. Lines typed before are kept in the data directory, for the arrow keys. */
export async function converseAtTerminal(call: Call, talk: Talk): Promise<void> {
  const file = join(call.daemon.dataDir, 'history');
  let history: string[] = [];
  try {
    history = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    // Nothing was typed yet.
  }
  const lines = createInterface({
    input: call.input,
    output: call.out.stream,
    history,
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
  });
  lines.on('history', (kept) => (history = kept));
  call.out.line(call.out.style('dim', `${talk.title}; /help lists the commands, Ctrl+D ends`));
  await new Conversation(call, talk, lines).hold();
  lines.close();
  try {
    makePrivateFolder(call.daemon.dataDir);
    writeFileSync(file, `${history.join('\n')}\n`, { mode: 0o600 });
  } catch (error) {
    call.out.note(`what was typed could not be kept: ${(error as Error).message}`);
  }
}

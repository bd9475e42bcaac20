/** Where a command writes. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
}

/** Fewer of them would hold a word or two. */
const LEAST_COLUMNS = 20;
/** Where a terminal does not tell. */
const DEFAULT_COLUMNS = 100;
const ESCAPE = '\u001b';
const STYLES = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' } as const;
/** What would move the cursor of a terminal, and other characters that print nothing; line ends and tabs stay. */
const CONTROLS = /[^\P{Cc}\n\t]/gu;

/** Without what would act on a terminal: models, files and servers write some of the texts. */
export const withoutControls = (text: string): string => text.replaceAll(CONTROLS, '');

/** The text with line breaks between its words, so that no line is longer than `columns` unless a word is; lines behind a break begin with `indent` blanks. */
export function wrapped(text: string, columns: number, indent = 0): string {
  return text
    .split('\n')
    .map((line) => wrappedLine(line, columns, indent))
    .join('\n');
}

function wrappedLine(line: string, columns: number, indent: number): string {
  if (line.length <= columns) return line;
  let [whole, length] = ['', 0];
  // Each word with the blanks before it; those of a break go.
  for (const [piece, blanks = ''] of line.matchAll(/(\s*)\S+/g)) {
    const isBreak = length > indent && length + piece.length > columns;
    const added = isBreak ? piece.slice(blanks.length) : piece;
    whole += isBreak ? `\n${' '.repeat(indent)}${added}` : added;
    length = (isBreak ? indent : length) + added.length;
  }
  return whole;
}

/** Rows of two columns, set in `columns`: the second begins behind the longest of the first. */
export function alignedRows(rows: readonly (readonly [string, string])[], columns: number): string[] {
  const width = 4 + Math.max(...rows.map(([first]) => first.length));
  // Where the first column leaves too little, the second is set as if it left enough.
  const most = Math.max(columns, width + LEAST_COLUMNS);
  return rows.map(([first, second]) => wrapped(`  ${first}`.padEnd(width) + second, most, width));
}

/** What a command says: text for people or JSON for programs on standard output, notes on standard error. */
export class Output {
  /** JSON for programs; texts for people are not printed then. */
  readonly isJson: boolean;
  /** Text goes to a terminal, which can draw a line anew. */
  readonly isTerminal: boolean;
  readonly #streams: Streams;
  readonly #hasStyles: boolean;

  constructor(streams: Streams, { isJson, env }: { isJson: boolean; env: NodeJS.ProcessEnv }) {
    this.#streams = streams;
    this.isJson = isJson;
    this.isTerminal = streams.stdout.isTTY === true && !isJson;
    this.#hasStyles = this.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
  }

  /** Characters in a line of the terminal. */
  get columns(): number {
    return this.#streams.stdout.columns ?? DEFAULT_COLUMNS;
  }

  /** In how many columns texts for people are set: those of a terminal, and as many as there are elsewhere. */
  get width(): number {
    return this.isTerminal ? this.columns : Number.POSITIVE_INFINITY;
  }

  /** Where people read, for what writes there by itself. */
  get stream(): NodeJS.WritableStream {
    return this.#streams.stdout;
  }

  /** A line for people. */
  line(text = ''): void {
    this.write(`${text}\n`);
  }

  /** A piece of text for people, as it comes. */
  write(text: string): void {
    if (!this.isJson) this.#streams.stdout.write(text);
  }

  /** One JSON value on a line of its own, for programs; verbs that answer piece by piece use it. */
  value(value: unknown): void {
    if (this.isJson) this.#streams.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** The whole result of a verb, for programs. */
  result(value: unknown): void {
    if (this.isJson) this.#streams.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** Bytes as they are, for files that go to standard output; resolves when they are written. */
  bytes(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#streams.stdout.write(bytes, (error?: Error | null) => (error ? reject(error) : resolve())),
    );
  }

  /** A remark beside the result. */
  note(text: string): void {
    const { isTTY, columns = DEFAULT_COLUMNS } = this.#streams.stderr;
    this.#streams.stderr.write(`${wrapped(`quern: ${withoutControls(text)}`, isTTY ? columns : Number.POSITIVE_INFINITY)}\n`);
  }

  /** Draws the last line anew on a terminal; elsewhere nothing. */
  progress(text: string): void {
    if (this.isTerminal)
      this.write(
        `\r${ESCAPE}[K${withoutControls(text)
          .replaceAll(/[\n\t]/g, ' ')
          .slice(0, this.columns - 1)}`,
      );
  }

  /** Takes the line away that `progress` drew. */
  endProgress(): void {
    if (this.isTerminal) this.write(`\r${ESCAPE}[K`);
  }

  /** Names or forms with what each means, in two columns, the second set in what the terminal has left. */
  list(rows: readonly (readonly [string, string])[]): void {
    for (const text of alignedRows(rows, this.width)) this.line(text);
  }

  /** Rows in columns, the titles first. */
  table(titles: readonly string[], given: readonly (readonly string[])[]): void {
    const rows = [titles, ...given].map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}+/gu, ' ')));
    const widths = titles.map((_title, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
    rows.forEach((row, index) => {
      const text = row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd();
      this.line(index === 0 ? this.style('bold', text) : text);
    });
  }

  /** The text in a style, where the terminal has styles and NO_COLOR is not set. */
  style(style: keyof typeof STYLES, text: string): string {
    return this.#hasStyles ? `${ESCAPE}[${STYLES[style]}m${text}${ESCAPE}[0m` : text;
  }
}

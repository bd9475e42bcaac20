/** Where a command writes. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

const ESCAPE = '\u001b';
const STYLES = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' } as const;
/** What would move the cursor of a terminal, and other characters that print nothing; line ends and tabs stay. */
const CONTROLS = /[^\P{Cc}\n\t]/gu;

/** Without what would act on a terminal: models, files and servers write some of the texts. */
export const withoutControls = (text: string): string => text.replaceAll(CONTROLS, '');

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
    return this.#streams.stdout.columns ?? 100;
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
    this.#streams.stderr.write(`quern: ${withoutControls(text)}\n`);
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

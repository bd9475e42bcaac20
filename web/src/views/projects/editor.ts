/** The YAML editor. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap } from '@codemirror/view';
import { rootIn, shared } from './look';

/** The editor of one text. */
export class YamlEditor {
  readonly #view: EditorView;

  constructor(place: HTMLElement, label: string, text: string, onchange: (text: string) => void) {
    const root = rootIn(place);
    this.#view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          ...shared(label),
          history(),
          foldGutter(),
          lintGutter(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          search({ top: true }),
          // Tab goes on to the next control, as everywhere on the page.
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap]),
          EditorView.updateListener.of(({ docChanged, state }) => docChanged && onchange(state.doc.toString())),
        ],
      }),
    });
  }

  /** Takes a text that was changed elsewhere; what is the same stays where it is, with the cursor. */
  set(text: string): void {
    const before = this.#view.state.doc.toString();
    if (before === text) return;
    let from = 0;
    while (from < before.length && before[from] === text[from]) from += 1;
    let rest = 0;
    while (rest < Math.min(before.length, text.length) - from && before.at(-1 - rest) === text.at(-1 - rest)) rest += 1;
    this.#view.dispatch({ changes: { from, to: before.length - rest, insert: text.slice(from, text.length - rest) } });
  }

  /** Marks lines, from 1, with what is wrong there. */
  mark(problems: readonly { readonly line: number; readonly message: string }[]): void {
    const { doc } = this.#view.state;
    const marks = problems.map(({ line, message }): Diagnostic => {
      const { from, to, text } = doc.line(Math.min(line, doc.lines));
      return { from: from + (text.length - text.trimStart().length), to, severity: 'error', message };
    });
    this.#view.dispatch(setDiagnostics(this.#view.state, marks));
  }

  /** Shows a line and puts the cursor there. */
  reveal(line: number): void {
    const { doc } = this.#view.state;
    const { from } = doc.line(Math.min(line, doc.lines));
    this.#view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    this.#view.focus();
  }

  destroy(): void {
    this.#view.destroy();
  }
}

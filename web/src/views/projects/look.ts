/** How YAML looks, in the editor and in differences. Both live in shadow roots: CodeMirror puts its styles there as sheets, which the page's policy allows. */
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const LOOK = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--raised)', fontSize: 'var(--text-small)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent-ground) 50%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-ground)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--ink)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-ground)', paddingLeft: '6px' },
  '.cm-deletedChunk .cm-deletedLine, .cm-deletedLine': { textDecoration: 'none' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--bad-ground)' },
  '&.cm-merge-b .cm-changedLine, .cm-changedLine': { backgroundColor: 'var(--good-ground)' },
  '.cm-insertedLine, ins': { textDecoration: 'none' },
  // The backgrounds of the library are too dark or too light for the text on them.
  '.cm-changedText, .cm-deletedText': { background: 'none !important', textDecoration: 'none', fontWeight: '700' },
  '.cm-collapsedLines': { background: 'var(--sunken)', color: 'var(--soft)' },
  // Few fonts have the library's own signs.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"..." !important' },
});

const COLOURS = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
    { tag: [tags.comment, tags.meta], color: 'var(--soft)', fontStyle: 'italic' },
    { tag: [tags.string, tags.content], color: 'var(--ink)' },
    { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--series-2)' },
    { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: 'var(--soft)' },
    { tag: tags.labelName, color: 'var(--series-4)' },
  ]),
);

/** What every view of YAML has; `label` names it. */
export const shared = (label: string): Extension[] => [
  lineNumbers(),
  yaml(),
  COLOURS,
  LOOK,
  // The box scrolls, so that the keyboard must reach it, also where nothing in it is edited.
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
];

/** A part of the page for an editor, with a root of its own. */
export function rootIn(place: HTMLElement): ShadowRoot {
  const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' });
  root.replaceChildren();
  return root;
}

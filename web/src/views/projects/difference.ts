/** Views of what differs between two texts. */
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { rootIn, shared } from './look';

const readOnly = (label: string): Extension[] => [
  ...shared(label),
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ role: 'textbox', 'aria-multiline': 'true', 'aria-readonly': 'true' }),
];

/** Shows what differs between two texts, one under the other or side by side. Call the result to end it. */
export function showDifference(
  place: HTMLElement,
  before: string,
  after: string,
  labels: readonly [string, string],
  isBeside: boolean,
): () => void {
  const root = rootIn(place);
  const collapseUnchanged = { margin: 3, minSize: 8 };
  const view = isBeside
    ? new MergeView({
        root,
        parent: root,
        a: { doc: before, extensions: readOnly(labels[0]) },
        b: { doc: after, extensions: readOnly(labels[1]) },
        collapseUnchanged,
      })
    : new EditorView({
        root,
        parent: root,
        doc: after,
        extensions: [readOnly(labels[1]), unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged })],
      });
  return () => view.destroy();
}

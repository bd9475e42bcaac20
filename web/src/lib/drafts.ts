/** What was typed and not sent, kept in this browser under a name until it is sent: a reload, a crash or a lost connection loses nothing. */
const PREFIX = 'quern.draft.';

/** The draft of a name; empty where there is none. */
export const draft = (name: string): string => localStorage.getItem(PREFIX + name) ?? '';

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(name: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
  } catch {
    // The browser's storage is full: the text stays in its field, and is kept again when there is room.
  }
}

/** Gives a draft another name; one that has that name already stays. */
export function moveDraft(from: string, to: string): void {
  if (draft(from) === '' || draft(to) !== '') return;
  keepDraft(to, draft(from));
  keepDraft(from, '');
}

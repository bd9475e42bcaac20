/** What browsers keep from pages that came by plain HTTP from another machine, such as a phone's from the computer beside it, done by other means. */

/** A new id that no other has: 32 hexadecimal digits. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Copies a text for other programs to paste. It belongs into the answer to a press. */
export async function copyText(text: string): Promise<void> {
  // Browsers that know no page as secure have no such property, whatever their types say.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) return clipboard.writeText(text);
  const give = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.clipboardData?.setData('text/plain', text);
  };
  document.addEventListener('copy', give, { once: true });
  const isCopied = document.execCommand('copy');
  document.removeEventListener('copy', give);
  if (!isCopied) throw new Error('The browser lets this page copy nothing. Mark the text, and copy it by the keyboard.');
}

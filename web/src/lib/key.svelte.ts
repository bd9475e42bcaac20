/** The API key of the daemon, where it has one: asked of the reader once, kept in this browser, and never part of an address. */
const PLACE = 'quern.key';

class Key {
  #value = $state(localStorage.getItem(PLACE) ?? '');
  /** Set while the daemon refuses what we send: the page asks for a key. */
  isWanted = $state(false);

  /** What a request carries. */
  headers(): Record<string, string> {
    return this.#value === '' ? {} : { Authorization: `Bearer ${this.#value}` };
  }

  /** What a WebSocket's handshake carries: subprotocols take letters and digits alone, so the key is written in hexadecimal. */
  protocols(): string[] {
    if (this.#value === '') return [];
    const bytes = new TextEncoder().encode(this.#value);
    return [`quern-key.${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`];
  }

  /** Whether the reader gave one. */
  get isKnown(): boolean {
    return this.#value !== '';
  }

  /** Called for each answer of status 401. */
  refused(): void {
    this.isWanted = true;
  }

  /** Takes what the reader typed; empty forgets the key. */
  take(value: string): void {
    this.#value = value.trim();
    if (this.#value === '') localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, this.#value);
    this.isWanted = false;
  }
}

export const key = new Key();

/** The API key of the daemon, where it has one: asked of the reader once, kept in this browser, and never part of an address. */
import { connection } from './connection.svelte';

const PLACE = 'quern.key';

class Key {
  #value = $state(localStorage.getItem(PLACE) ?? '');
  /** Set while the daemon refuses what we send: no view is shown, and what it shows again is asked anew. */
  isWanted = $state(false);
  /** Whether the dialog that asks for it is open. The reader may close it; it opens again when they want it. */
  isAsked = $state(false);

  /** The headers that a request carries. */
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
    if (!this.isWanted) this.isAsked = true;
    this.isWanted = true;
  }

  /** Called when a key or a session was accepted: views ask again. */
  accepted(): void {
    [this.isWanted, this.isAsked] = [false, false];
    connection.returns += 1;
  }

  /** Takes what the reader typed. */
  take(value: string): void {
    this.#value = value.trim();
    localStorage.setItem(PLACE, this.#value);
    this.accepted();
  }

  /** Forgets the key; the page begins anew without it. */
  forget(): void {
    localStorage.removeItem(PLACE);
    location.reload();
  }
}

export const key = new Key();

import { damagedFile, type SourceFile } from './contract.js';

/** A compound file (OLE), in which the Office programs of before 2007 kept their documents. */
export interface Compound {
  /** Names of its outermost streams and folders in upper case: programs write them in any. */
  readonly names: ReadonlySet<string>;
  /** The content of an outermost stream by its name in any case; undefined where there is none. */
  stream(name: string): Uint8Array | undefined;
}

const COMPOUND_START = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** Whether content begins as a compound file does. */
export function isCompound(bytes: Uint8Array): boolean {
  return COMPOUND_START.every((byte, at) => bytes[at] === byte);
}

interface Container {
  readonly FullPaths: readonly string[];
  readonly FileIndex: readonly { readonly content?: ArrayLike<number> }[];
}

/** Opens a compound file. Throws `Failure('invalid')` for one that is damaged. */
export async function openCompound(file: SourceFile, bytes: Uint8Array): Promise<Compound> {
  const { CFB } = await import('@e965/xlsx');
  let container: Container;
  try {
    container = CFB.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), { type: 'buffer' }) as Container;
  } catch (error) {
    throw damagedFile(file, 'its compound file cannot be opened', error);
  }
  const places = new Map<string, number>();
  for (const [at, path] of container.FullPaths.entries()) {
    // The root goes by any name; the name of a folder ends with a slash.
    const [, name = '', below = ''] = path.split('/');
    if (name !== '' && below === '' && !places.has(name.toUpperCase())) places.set(name.toUpperCase(), at);
  }
  return {
    names: new Set(places.keys()),
    stream: (name) => {
      const content = container.FileIndex[places.get(name.toUpperCase()) ?? -1]?.content;
      return content && Uint8Array.from(content);
    },
  };
}

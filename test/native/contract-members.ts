import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTRACT = join(import.meta.dirname, '../../../native/contract');

/** A method as the contract has it. */
export interface ContractMethod {
  readonly name: string;
  readonly givesPromise: boolean;
}

/** The methods of every interface of the native contract by its name, those of interfaces that it extends included. */
export function contractMethods(): ReadonlyMap<string, readonly ContractMethod[]> {
  const text = readdirSync(CONTRACT)
    .map((name) => readFileSync(join(CONTRACT, name), 'utf8'))
    .join('\n');
  const own = new Map<string, { parents: string[]; methods: ContractMethod[] }>();
  for (const [, name, parents = '', body] of text.matchAll(/^export interface (\w+)(?: extends ([\w, ]+))? \{\n([\s\S]*?)^\}/gm)) {
    const methods = [...body!.matchAll(/^ {2}(\w+)\(([\s\S]*?);\n/gm)].map(([, method, rest]) => ({
      name: method!,
      givesPromise: /\): Promise</.test(rest!),
    }));
    own.set(name!, { parents: parents.split(', ').filter(Boolean), methods });
  }
  const all = (name: string): ContractMethod[] => {
    const { parents, methods } = own.get(name)!;
    return [...parents.flatMap(all), ...methods];
  };
  return new Map([...own.keys()].map((name) => [name, all(name)] as const).filter(([, methods]) => methods.length > 0));
}

// A server of tools over stdin and stdout by the Model Context Protocol, without a package: one JSON-RPC message a line.
// Reservations last as long as the process.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const PROTOCOLS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const MOST_RESERVATIONS = 3;
const stock = JSON.parse(readFileSync(new URL('stock.json', import.meta.url), 'utf8'));
/** Numbers of things -> member. */
const reservations = new Map();

function thing(number) {
  const found = stock.find((one) => one.number === number);
  if (!found) throw new Error(`There is no thing with the number ${number}. Look for it with find_things.`);
  return found;
}

function stateOf({ number, name, shelf, lent_until: until }) {
  const state = until ? `lent until ${until}` : reservations.has(number) ? 'reserved' : `free, on shelf ${shelf}`;
  return `${number} ${name}: ${state}`;
}

const number = { type: 'integer', description: 'Its number, such as 207.' };
const TOOLS = {
  find_things: {
    description: 'Finds the things of the library whose name holds a word, with their numbers and whether they are free.',
    properties: { word: { type: 'string', description: 'A word of the name, such as drill.' } },
    readOnly: true,
    run: ({ word }) => {
      const found = stock.filter(({ name }) => name.includes(String(word).toLowerCase()));
      return found.length > 0 ? found.map(stateOf).join('\n') : `Nothing is called ${word}.`;
    },
  },
  state_of: {
    description: 'Says whether a thing is free, lent or reserved.',
    properties: { number },
    readOnly: true,
    run: ({ number }) => stateOf(thing(number)),
  },
  reserve: {
    description: 'Reserves a thing for a member.',
    properties: { number, member: { type: 'string', description: "The member's name." } },
    readOnly: false,
    run: ({ number, member }) => {
      const wanted = thing(number);
      if (wanted.lent_until || reservations.has(number)) throw new Error(`It cannot be reserved now. ${stateOf(wanted)}.`);
      if ([...reservations.values()].filter((one) => one === member).length >= MOST_RESERVATIONS)
        throw new Error(`${member} has ${MOST_RESERVATIONS} reservations, which is the most.`);
      reservations.set(number, member);
      return `${wanted.number} ${wanted.name} is reserved for ${member}.`;
    },
  },
};

function listed() {
  return Object.entries(TOOLS).map(([name, { description, properties, readOnly }]) => ({
    name,
    description,
    inputSchema: { type: 'object', properties, required: Object.keys(properties) },
    annotations: { readOnlyHint: readOnly },
  }));
}

function called({ name, arguments: given = {} }) {
  try {
    if (!Object.hasOwn(TOOLS, name)) throw new Error(`There is no tool ${name}.`);
    const { properties, run } = TOOLS[name];
    const missing = Object.keys(properties).find((key) => typeof given[key] !== (properties[key].type === 'integer' ? 'number' : 'string'));
    if (missing) throw new Error(`${name} needs ${missing}, a ${properties[missing].type}.`);
    return { content: [{ type: 'text', text: run(given) }] };
  } catch (error) {
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: PROTOCOLS.includes(protocolVersion) ? protocolVersion : PROTOCOLS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'stock', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: listed() }),
  'tools/call': called,
};

for await (const line of createInterface({ input: process.stdin })) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    continue;
  }
  const { id, method, params } = message;
  // Notifications get no answer.
  if (id === undefined) continue;
  const answer = Object.hasOwn(METHODS, method)
    ? { result: METHODS[method](params ?? {}) }
    : { error: { code: -32601, message: `Unknown method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}

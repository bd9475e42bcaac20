import type { CompletionRequest } from '../../runtime/completions/contract.js';
import type { Act, Expected } from '../conformance/provider-suite.js';
import { delta, frames, type Scene, type ScriptedOpenAI, type Step, say, usage } from './scripted-openai.js';

const call = (index: number, members: Record<string, unknown>): Record<string, unknown> => delta({ tool_calls: [{ index, ...members }] });

const ACTS: Record<Act, { scene: Scene; expected: Expected; request?: Partial<CompletionRequest> }> = {
  text: { scene: say('Grüße', ' aus', ' Köln 🐧'), expected: { text: 'Grüße aus Köln 🐧' } },
  length: {
    scene: { steps: frames(delta({ content: 'one two' }), delta({}, 'length'), usage(3, 2), '[DONE]') },
    expected: { text: 'one two' },
    request: { max_tokens: 2 },
  },
  stop: { scene: say('before'), expected: { text: 'before' }, request: { stop: ['END'] } },
  reasoning: {
    scene: {
      steps: frames(
        delta({ reasoning_content: 'first ' }),
        delta({ reasoning_content: 'think' }),
        delta({ content: 'done' }),
        delta({}, 'stop'),
        usage(4, 3),
        '[DONE]',
      ),
    },
    expected: { reasoning: 'first think', text: 'done' },
    request: { think: true, thinking_budget: 100 },
  },
  tool_call: {
    scene: {
      steps: frames(
        call(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }),
        call(0, { function: { arguments: '{"city":' } }),
        call(0, { function: { arguments: '"Köln"}' } }),
        delta({}, 'tool_calls'),
        usage(9, 5),
        '[DONE]',
      ),
    },
    expected: { calls: [{ name: 'weather', arguments: { city: 'Köln' } }] },
  },
  two_calls: {
    scene: {
      steps: frames(
        call(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bonn"}' } }),
        call(1, { id: 'call_2', type: 'function', function: { name: 'time', arguments: '{}' } }),
        delta({}, 'tool_calls'),
        usage(9, 8),
        '[DONE]',
      ),
    },
    expected: {
      calls: [
        { name: 'weather', arguments: { city: 'Bonn' } },
        { name: 'time', arguments: {} },
      ],
    },
  },
  endless: {
    scene: {
      steps: [
        {
          endless: frames(delta({ content: 'more ' }))
            .map((step) => (step as { send: string }).send)
            .join(''),
        },
      ],
    },
    expected: {},
  },
};

const TOOLS = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));

/** A frame of a choice once for each of so many; any other step as it is. */
function ofEachChoice(step: Step, n: number): Step[] {
  if (typeof step === 'string' || !('send' in step) || !String(step.send).includes('"index":0,"delta"')) return [step];
  return Array.from({ length: n }, (_, index) => ({ send: String(step.send).replace('"index":0,"delta"', `"index":${index},"delta"`) }));
}

/** Makes a scripted host answer by the act that the request names in `user`, as many choices as it asks for. */
export function playActs(host: ScriptedOpenAI): void {
  host.always((seen) => {
    const { user, n = 1 } = (seen.body ?? {}) as { user?: string; n?: number };
    const scene = ACTS[user as Act]?.scene;
    if (scene) return n === 1 ? scene : { ...scene, steps: scene.steps.flatMap((step) => ofEachChoice(step, n)) };
    return { status: 404, headers: { 'content-type': 'application/json' }, steps: [{ send: '{}' }] };
  });
}

/** The request that names the act, and what the scripted host answers to it. */
export function arrangeAct(act: Act): { request: CompletionRequest; expected: Expected } {
  const { expected, request } = ACTS[act];
  const tools = act === 'tool_call' || act === 'two_calls' ? { tools: TOOLS } : {};
  return { request: { messages: [{ role: 'user', content: 'go' }], user: act, ...tools, ...request }, expected };
}

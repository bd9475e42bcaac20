// node-llama-cpp's own JavaScript API as a peer, in a process of its own.
import { getLlama, LlamaCompletion } from 'node-llama-cpp';

/** What the peer is told. */
export interface PeerPlan {
  model: string;
  streams: number;
  maxTokens: number;
  promptWords: number;
  context: number;
  threads: number;
  rounds: number;
}

/** Tokens per second of each round. */
export interface PeerResult {
  rates: number[];
}

async function measure(plan: PeerPlan): Promise<PeerResult> {
  const llama = await getLlama({ gpu: false, build: 'never', maxThreads: plan.threads });
  const model = await llama.loadModel({ modelPath: plan.model });
  const context = await model.createContext({ sequences: plan.streams, contextSize: plan.context, threads: plan.threads });
  const completions = Array.from({ length: plan.streams }, () => new LlamaCompletion({ contextSequence: context.getSequence() }));
  const rates: number[] = [];
  for (let round = -1; round < plan.rounds; round++) {
    const started = performance.now();
    let tokens = 0;
    await Promise.all(
      completions.map((completion, index) =>
        completion.generateCompletion(`${round} ${index} ${'word '.repeat(plan.promptWords)}`, {
          maxTokens: plan.maxTokens,
          temperature: 0,
          onToken: (some) => {
            tokens += some.length;
          },
        }),
      ),
    );
    if (round >= 0) rates.push((tokens * 1000) / (performance.now() - started));
  }
  return { rates };
}

process.on('message', (plan: PeerPlan) => {
  measure(plan).then(
    (result) => process.send!({ result }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});

import type { EncoderModel } from '../engines/contracts/encoder.js';

/** An encoder that is handed at most `size` texts at a time, one batch after the other; the answers are those of all together. */
export function inBatches(model: EncoderModel, size: number): Pick<EncoderModel, keyof EncoderModel> {
  return {
    info: model.info,
    embed: (texts, call) => inTurn(texts.length, size, (from, to) => model.embed(texts.slice(from, to), call)),
    score: (query, documents, call) => inTurn(documents.length, size, (from, to) => model.score(query, documents.slice(from, to), call)),
    classify: (texts, call, pairs) =>
      inTurn(texts.length, size, (from, to) => model.classify(texts.slice(from, to), call, pairs?.slice(from, to))),
    entities: (texts, call) => inTurn(texts.length, size, (from, to) => model.entities(texts.slice(from, to), call)),
    close: () => model.close(),
  };
}

/** The lists of all answers, each put together in order. */
async function inTurn<Answer extends Readonly<Record<string, unknown[]>>>(
  count: number,
  size: number,
  ask: (from: number, to: number) => Promise<Answer>,
): Promise<Answer> {
  const whole = await ask(0, Math.min(count, size));
  for (let from = size; from < count; from += size) {
    const answer = await ask(from, Math.min(count, from + size));
    for (const [name, list] of Object.entries(answer)) for (const one of list) whole[name]!.push(one);
  }
  return whole;
}

import { type Spent, spending } from '../../runtime/completions/spent.js';
import type { EncoderService } from '../../runtime/encoders/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Services } from '../../runtime/services/services.js';

/** What somebody may spend. */
export interface Budget {
  /** Throws `too_many` where nothing is left. */
  readonly admit: () => Promise<void>;
  readonly spent: Spent;
}

/**
 * A runtime whose models ask first whether anything may be spent, and tell what they cost: completions, chats of projects, spoken ones, those that are run again
 * and the help among them, and encoders.
 */
export function metered(runtime: Runtime, { admit, spent }: Budget): Runtime {
  const { completions, chat, help, voice, here, core } = runtime;
  const paid = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await admit();
    return work();
  };
  const encodersOf = (encoders: EncoderService): EncoderService => spendingEncoders(encoders, paid, spent);
  const withEncoders = (services: Services): Services => ({ ...services, encoders: encodersOf(services.encoders) });
  return Object.assign(Object.create(runtime) as Runtime, {
    completions: {
      open: (...asked) => paid(async () => spending(await completions.open(...asked), spent)),
      hold: (...asked) => completions.hold(...asked),
      render: (...asked) => completions.render(...asked),
      textsOf: (...asked) => completions.textsOf(...asked),
    } satisfies Runtime['completions'],
    chat: changed(chat, {
      complete: (call, signal) => paid(() => chat.complete({ ...call, spent }, signal)),
      tried: (namespace, project, question, config, signal) => paid(() => chat.tried(namespace, project, question, config, signal, spent)),
      replay: (namespace, project, id, wish, signal) => paid(() => chat.replay(namespace, project, id, wish, signal, spent)),
      decide: (namespace, project, id, decision, signal) => paid(() => chat.decide(namespace, project, id, decision, signal, spent)),
    }),
    help: changed(help, { complete: (call, ...more) => paid(() => help.complete({ ...call, spent }, ...more)) }),
    voice: async () => {
      const opened = await voice();
      return changed(opened, { open: (address, peer) => opened.open({ ...address, admit, spent }, peer) });
    },
    here: withEncoders(here),
    core: withEncoders(core),
  });
}

function spendingEncoders(
  encoders: EncoderService,
  paid: <Result>(work: () => Promise<Result>) => Promise<Result>,
  spent: Spent,
): EncoderService {
  const told = async <Result extends { tokens: number }>(work: () => Promise<Result>): Promise<Result> => {
    const result = await paid(work);
    spent(result.tokens);
    return result;
  };
  return {
    embed: (...asked) => told(() => encoders.embed(...asked)),
    rerank: (...asked) => told(() => encoders.rerank(...asked)),
    classify: (...asked) => told(() => encoders.classify(...asked)),
    entities: (...asked) => told(() => encoders.entities(...asked)),
  };
}

/** An object of which some methods are others; its own see the object itself, whose private members no copy has. */
function changed<Thing extends object>(thing: Thing, methods: Partial<Thing>): Thing {
  return new Proxy(thing, {
    get(all, name) {
      if (Object.hasOwn(methods, name)) return methods[name as keyof Thing];
      const member: unknown = Reflect.get(all, name, all);
      return typeof member === 'function' ? member.bind(all) : member;
    },
  });
}

import { type Spent, spending } from '../../runtime/completions/spent.js';
import type { EncoderService } from '../../runtime/encoders/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Services } from '../../runtime/services/services.js';

/** A runtime whose models tell what they cost: completions, chats of projects, spoken ones and the help among them, and encoders. */
export function metered(runtime: Runtime, spent: Spent): Runtime {
  const { completions, chat, help, voice, here, core } = runtime;
  const withEncoders = (services: Services): Services => ({ ...services, encoders: spendingEncoders(services.encoders, spent) });
  return Object.assign(Object.create(runtime) as Runtime, {
    completions: {
      open: async (...asked) => spending(await completions.open(...asked), spent),
      hold: (...asked) => completions.hold(...asked),
      render: (...asked) => completions.render(...asked),
      textsOf: (...asked) => completions.textsOf(...asked),
    } satisfies Runtime['completions'],
    chat: changed(chat, { complete: (call, signal) => chat.complete({ ...call, spent }, signal) }),
    help: changed(help, { complete: (call, ...more) => help.complete({ ...call, spent }, ...more) }),
    voice: async () => {
      const opened = await voice();
      return changed(opened, { open: (address, peer) => opened.open({ ...address, spent }, peer) });
    },
    here: withEncoders(here),
    core: withEncoders(core),
  });
}

function spendingEncoders(encoders: EncoderService, spent: Spent): EncoderService {
  const told = async <Result extends { tokens: number }>(coming: Promise<Result>): Promise<Result> => {
    const result = await coming;
    spent(result.tokens);
    return result;
  };
  return {
    embed: (...asked) => told(encoders.embed(...asked)),
    rerank: (...asked) => told(encoders.rerank(...asked)),
    classify: (...asked) => told(encoders.classify(...asked)),
    entities: (...asked) => told(encoders.entities(...asked)),
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

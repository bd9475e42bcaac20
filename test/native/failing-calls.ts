import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { AnomalyFitOptions, NativeAnomalyModel } from '../../native/contract.js';
import { backendFolders, loadCore, loadInference } from '../../native/loader.js';
import { Failure, STATUS_OF_KIND } from '../../schemas/errors.js';
import { contractMethods } from './contract-members.js';
import { Generations, MODEL } from './generations.js';

/** Tiny models that the objects of the inference addon are opened with, and a path where nothing is. */
export interface Files {
  readonly language: string;
  readonly embedder: string;
  readonly transcriber: string;
  readonly missing: string;
}

/** Calls that fail by `Interface.method`: several where a method can fail in the call and on another thread. */
type Calls = Record<string, (() => unknown)[]>;

/** Interfaces whose methods stand in others, which extend them. */
const EXTENDED = ['AudioFunctions', 'NativeAddon'];

/** Methods that have nothing to refuse. */
const NEVER_FAIL =
  `CoreAddon.instructionSet CoreAddon.takeShortTurns CoreAddon.anomalyBackends NativeSampleStream.flush NativeVoiceActivity.reset
  NativePcmReader.end NativePcmReader.facts NativeAnomalyModel.release NativeAnomalyFit.cancel NativeClassifierFit.cancel NativeColumns.clear
  NativeColumns.stats NativeColumns.forgetFeatures NativeEncoder.close NativeTextIndex.close NativeVectorIndex.close NativeScheduler.close
  NativeEmbedder.close NativeTranscriber.stop NativeTranscriber.close`.split(/\s+/);

/** Anything native, called with anything, as JavaScript can. */
const loose = (native: object) => native as Record<string, (...given: unknown[]) => unknown>;

function audioCalls(): Calls {
  const core = loadCore();
  const damaged = core.openPcmReader('wav');
  damaged.push(new Uint8Array(100));
  const ogg = core.openOggWriter({ serial: 1, inputRate: 48_000, channels: 1, preSkip: 0 });
  const functions = ['encodeSamples', 'decodeSamples', 'mixChannels', 'wavHeader', 'openResampler', 'openTimeStretch', 'openVoiceActivity'];
  functions.push('openPcmReader', 'openAacDecoder', 'openPacketReader', 'openOggWriter');
  return {
    ...Object.fromEntries(functions.map((name) => [`CoreAddon.${name}`, [() => loose(core)[name]!(true)]])),
    'NativeSampleStream.push': [() => loose(core.openResampler(8000, 16_000)).push!(1)],
    'NativeOggWriter.push': [() => loose(ogg).push!(1), () => ogg.push(new Uint8Array(1), 0)],
    'NativeOggWriter.end': [() => ogg.end(-1)],
    'NativeVoiceActivity.push': [() => loose(core.openVoiceActivity(160, 0.1)).push!(1)],
    'NativePcmReader.push': [() => loose(damaged).push!(1)],
    'NativePcmReader.read': [() => damaged.read()],
    'NativePacketReader.push': [() => core.openPacketReader('webm').push(new Uint8Array(100))],
    'NativeAacDecoder.decode': [() => core.openAacDecoder(Uint8Array.of(0x12, 0x10)).decode(Uint8Array.of(1))],
  };
}

const FIT: AnomalyFitOptions = { backend: 'ecod', columns: 1, contamination: 0.1, normalization: 'raw', scaled: false };

async function anomalyModel(): Promise<NativeAnomalyModel> {
  const fit = loadCore().openAnomalyFit(FIT);
  fit.add(Float64Array.of(1, 2, 3));
  return (await fit.run()).model;
}

async function learningCalls(missing: string): Promise<Calls> {
  const core = loadCore();
  const [model, released] = [await anomalyModel(), await anomalyModel()];
  released.release();
  const samples = core.openClassifierFit({ dimensions: 1, classes: 2 });
  samples.add(Float32Array.of(1, 2, -1, -2), Uint32Array.of(0, 0, 1, 1));
  const { model: classifier } = await samples.run();
  const columns = core.openColumns({ capacity: 4 });
  const noNumber = Float64Array.of(Number.NaN);
  return {
    'CoreAddon.openAnomalyFit': [() => core.openAnomalyFit({ ...FIT, backend: 'none' })],
    'CoreAddon.openAnomalyRestore': [() => core.openAnomalyRestore(0)],
    'CoreAddon.openClassifierFit': [() => core.openClassifierFit({ dimensions: 0, classes: 2 })],
    'CoreAddon.loadClassifier': [() => loose(core).loadClassifier!(1), () => core.loadClassifier(missing, 1n)],
    'CoreAddon.openColumns': [() => core.openColumns({ capacity: 0 })],
    'NativeAnomalyFit.add': [() => core.openAnomalyFit(FIT).add(noNumber)],
    'NativeAnomalyFit.run': [() => core.openAnomalyFit(FIT).run()],
    'NativeAnomalyModel.score': [() => loose(model).score!(1), () => model.score(noNumber)],
    'NativeAnomalyModel.scoreRow': [() => model.scoreRow(noNumber)],
    'NativeAnomalyModel.explain': [() => loose(model).explain!(1), () => model.explain(noNumber)],
    'NativeAnomalyModel.state': [() => released.state()],
    'NativeAnomalyRestore.add': [() => loose(core.openAnomalyRestore()).add!('entry', {})],
    'NativeAnomalyRestore.run': [() => core.openAnomalyRestore().run()],
    'NativeClassifier.predict': [() => loose(classifier).predict!(1), () => classifier.predict(Float32Array.of(Number.NaN))],
    'NativeClassifier.save': [() => loose(classifier).save!(missing), () => classifier.save(join(missing, 'head.bin'), 1n)],
    'NativeClassifierFit.add': [() => samples.add(Float32Array.of(1), Uint32Array.of(1))],
    'NativeClassifierFit.run': [() => samples.run(), () => core.openClassifierFit({ dimensions: 1, classes: 2 }).run()],
    'NativeColumns.append': [() => loose(columns).append!(1, 1)],
    'NativeColumns.read': [() => columns.read({ tail: -1 })],
    'NativeColumns.openFit': [() => columns.openFit(FIT, ['a', 'b'], {})],
    'NativeColumns.latest': [() => columns.latest(['a'])],
  };
}

/** The calls of an index, of vectors or texts, which differ in what they add and look for. */
async function indexCalls(name: string, open: () => object, missing: string): Promise<Calls> {
  const [index, closed] = [loose(open()), loose(open())];
  await closed.close!();
  const calls = {
    add: [() => index.add!(1), () => closed.add!(Uint32Array.of(1), [])],
    remove: [() => index.remove!(1), () => closed.remove!(Uint32Array.of(1))],
    search: [() => index.search!(1), () => index.search!('word', 0)],
    save: [() => index.save!(1), () => index.save!(join(missing, 'index'), 1n)],
    load: [() => index.load!(1), () => index.load!(missing, -1n)],
    stats: [() => closed.stats!()],
  };
  return Object.fromEntries(Object.entries(calls).map(([method, some]) => [`${name}.${method}`, some]));
}

async function coreCalls(missing: string): Promise<Calls> {
  const core = loadCore();
  const vectors = () => core.openVectorIndex({ dimensions: 2, metric: 'l2', storage: 'f32' });
  const texts = () => core.openTextIndex({ language: 'english' });
  const norm = { weight: Float32Array.of(1, 1), bias: new Float32Array(2) };
  const dense = { inputs: 2, outputs: 2, weights: new Float32Array(4), bias: new Float32Array(2) };
  const attention = { query: dense, key: dense, value: dense, output: dense, attentionNorm: norm };
  const layers = [{ ...attention, up: dense, down: dense, outputNorm: norm }];
  const shape = { width: 2, layers: 1, heads: 1, inner: 2, vocabulary: 4, positions: 4, types: 0, epsilon: 1e-5, firstPosition: 0 };
  const weights = { words: new Float32Array(8), positions: new Float32Array(8), norm, layers, head: [] };
  const encoder = core.openEncoder({ ...shape, activation: 'gelu' }, weights);
  return {
    'CoreAddon.install': [() => loose(core).install!(1)],
    'CoreAddon.limitReceiveBuffers': [() => core.limitReceiveBuffers(0, 1)],
    'CoreAddon.holdSilentConnections': [() => core.holdSilentConnections(0, 1)],
    'CoreAddon.peekConnection': [() => loose(core).peekConnection!(0, 'x')],
    'CoreAddon.duplicateConnection': [() => loose(core).duplicateConnection!('x')],
    'CoreAddon.sendDatagram': [() => loose(core).sendDatagram!(1)],
    'CoreAddon.writeFloats': [() => core.writeFloats(Float32Array.of(1), new Uint8Array(1), 0)],
    'CoreAddon.openEncoder': [() => loose(core).openEncoder!(1)],
    'CoreAddon.openTextIndex': [() => loose(core).openTextIndex!(1)],
    'CoreAddon.openVectorIndex': [() => loose(core).openVectorIndex!(1)],
    ...(await indexCalls('NativeVectorIndex', vectors, missing)),
    'NativeVectorIndex.searchMany': [() => loose(vectors()).searchMany!(1), () => vectors().searchMany(Float32Array.of(1), 1)],
    ...(await indexCalls('NativeTextIndex', texts, missing)),
    'NativeTextIndex.terms': [() => loose(texts()).terms!(1)],
    'NativeEncoder.run': [() => loose(encoder).run!(1), () => encoder.run(Int32Array.of(9), Int32Array.of(1))],
    'NativeEncoder.runNow': [() => encoder.runNow(Int32Array.of(9), Int32Array.of(1))],
  };
}

async function inferenceCalls({ language, embedder, transcriber, missing }: Files): Promise<Calls> {
  const addon = loadInference();
  addon.loadBackends(backendFolders());
  const [open, closed] = [(await Generations.open(language)).scheduler, (await Generations.open(language)).scheduler];
  await closed.close();
  const scheduler = loose(open);
  const embedderOptions = { contextSize: 64, threads: 1, flashAttention: true, ranks: false };
  const embeds = await addon.openEmbedder(embedder, MODEL, embedderOptions);
  const hears = loose(await addon.openTranscriber(transcriber, { threads: 1, gpu: false }));
  const heard = { language: 'xx', translate: false, prompt: '', temperature: 0, words: false, audioContext: 0 };
  const state = [missing, 1n, false, { ids: new Int32Array(), scales: new Float32Array() }];
  return {
    'InferenceAddon.install': [() => loose(addon).install!(1)],
    'InferenceAddon.loadBackends': [() => loose(addon).loadBackends!(1)],
    'InferenceAddon.open': [() => loose(addon).open!(1), () => Generations.open(missing)],
    'InferenceAddon.openEmbedder': [() => loose(addon).openEmbedder!(1), () => addon.openEmbedder(missing, MODEL, embedderOptions)],
    'InferenceAddon.openTranscriber': [
      () => loose(addon).openTranscriber!(1),
      () => addon.openTranscriber(missing, { threads: 1, gpu: false }),
    ],
    'NativeScheduler.tokenize': [() => scheduler.tokenize!(1)],
    'NativeScheduler.tokenizeLong': [() => scheduler.tokenizeLong!(1)],
    'NativeScheduler.tokenBytes': [() => scheduler.tokenBytes!(-1, true)],
    'NativeScheduler.isEndOfGeneration': [() => scheduler.isEndOfGeneration!('x')],
    'NativeScheduler.submit': [() => scheduler.submit!(-1)],
    'NativeScheduler.abort': [() => scheduler.abort!('x')],
    'NativeScheduler.stats': [() => closed.stats()],
    'NativeScheduler.saveState': [() => scheduler.saveState!(1)],
    'NativeScheduler.restoreState': [() => scheduler.restoreState!(1), () => loose(closed).restoreState!(...state)],
    'NativeScheduler.dropState': [() => scheduler.dropState!(1)],
    'NativeScheduler.loadAdapter': [() => scheduler.loadAdapter!(1), () => scheduler.loadAdapter!(missing)],
    'NativeScheduler.dropAdapter': [() => scheduler.dropAdapter!('x')],
    'NativeEmbedder.tokenize': [() => loose(embeds).tokenize!(1)],
    'NativeEmbedder.embed': [() => loose(embeds).embed!(1), () => embeds.embed(Int32Array.of(1), Int32Array.of(-1))],
    'NativeTranscriber.transcribe': [() => hears.transcribe!(1), () => hears.transcribe!(new Float32Array(16_000), heard, () => undefined)],
  };
}

function assertFailure(error: unknown, name: string): void {
  assert.ok(error instanceof Failure, `${name} gave no Failure: ${String(error)}`);
  assert.ok(Object.hasOwn(STATUS_OF_KIND, error.kind), `${name}: ${error.kind}`);
  assert.ok(error.message.length > 10, `${name}: ${error.message}`);
  assert.ok(error.stack?.startsWith(`Failure: ${error.message}`) || error.stack?.startsWith(`Error: ${error.message}`), error.stack);
  assert.match(error.stack!, /failing-calls/, `the stack of ${name} does not lead to its caller: ${error.stack}`);
}

/** Makes a call fail, and looks at what it throws, or rejects its promise with. */
async function assertFails(name: string, call: () => unknown, givesPromise: boolean): Promise<void> {
  let answer: unknown;
  try {
    answer = call();
  } catch (error) {
    assert.ok(!givesPromise, `${name} throws instead of rejecting: ${String(error)}`);
    return assertFailure(error, name);
  }
  assert.ok(answer instanceof Promise, `${name} did not fail`);
  try {
    await answer;
  } catch (error) {
    return assertFailure(error, name);
  }
  assert.fail(`${name} did not fail`);
}

/** Has every method of the native contract fail in this thread, and checks that each failure is a `Failure` with its kind, message and stack. Resolves to how many calls that were. */
export async function checkFailures(files: Files): Promise<number> {
  const calls: Calls = {
    ...audioCalls(),
    ...(await learningCalls(files.missing)),
    ...(await coreCalls(files.missing)),
    ...(await inferenceCalls(files)),
  };
  const names = new Set<string>();
  for (const [owner, methods] of contractMethods()) {
    if (EXTENDED.includes(owner)) continue;
    for (const { name: method, givesPromise } of methods) {
      const name = `${owner}.${method}`;
      names.add(name);
      assert.ok(calls[name] || NEVER_FAIL.includes(name), `${name} has no call here that fails`);
      for (const call of calls[name] ?? []) await assertFails(name, call, givesPromise);
    }
  }
  for (const name of [...Object.keys(calls), ...NEVER_FAIL]) assert.ok(names.has(name), `${name} is not in the contract`);
  return Object.values(calls).flat().length;
}

import type { BufferService } from '../ml/buffers/contract.js';
import type { StreamService } from '../ml/streams/contract.js';
import type { Outbound } from '../net/outbound.js';
import type { Store } from '../store/store.js';

/** Data buffers and streaming detectors as the gateway uses them. */
export interface OpenColumns {
  /** Those of this machine. */
  readonly buffers: () => Promise<BufferService>;
  readonly streams: () => Promise<StreamService>;
  /** Those that the core uses: the same, or the ones of the remote runtimes. */
  readonly coreBuffers: () => Promise<BufferService>;
  readonly coreStreams: () => Promise<StreamService>;
  /** Ends trainings and waits for writes. */
  readonly close: () => Promise<void>;
}

/** Opens them at their first use, so that a start does not wait for it. */
export function openColumns({
  store,
  outbound,
  runtimeUrls,
}: {
  store: Store;
  outbound: Outbound;
  runtimeUrls: readonly string[];
}): OpenColumns {
  const closing: (() => Promise<void>)[] = [];
  const buffers = once(async () => {
    const { Buffers } = await import('../ml/buffers/buffers.js');
    const opened = new Buffers(store);
    closing.push(() => opened.close());
    return opened;
  });
  const streams = once(async () => {
    const { Streams } = await import('../ml/streams/streams.js');
    const opened = new Streams(store);
    closing.push(() => opened.close());
    return opened;
  });
  const close = async (): Promise<void> => {
    await Promise.all(closing.map((end) => end()));
  };
  if (runtimeUrls.length === 0) return { buffers, streams, coreBuffers: buffers, coreStreams: streams, close };
  return {
    buffers,
    streams,
    coreBuffers: once(async () => new (await import('../remote/buffers.js')).RemoteBuffers(outbound, runtimeUrls)),
    coreStreams: once(async () => new (await import('../remote/streams.js')).RemoteStreams(outbound, runtimeUrls)),
    close,
  };
}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}

import type { StoreType } from '../../../schemas/generated/config/rag.js';
import type { Metric } from './score.js';

/** What a database's configuration comes to. */
export interface StoreOptions {
  readonly type: StoreType;
  /** Of the database, for messages. */
  readonly database: string;
  readonly metric: Metric;
  /** Of the vectors, where the configuration says so; else the first vector does. */
  readonly dimensions: number | undefined;
  /** Skip chunks whose ids are there; else they take the place of the former ones. */
  readonly deduplicate: boolean;
  /** Where the collection lies when a host is named. */
  readonly server?: ServerOptions;
}

/** A server that keeps a collection. */
export interface ServerOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly collection: string;
  readonly apiKey: string | undefined;
  readonly onDisk: boolean;
}

import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult, TransactionSettings } from 'kysely';
import type { DatabaseDriver } from '../../../../accounts/database/database.js';

/** Where work is cut: around the step of this number, from 1 on. */
export interface Cut {
  readonly step: number;
  readonly when: 'before' | 'after';
  /** What happens there: that one answer is lost, everything from there on is, or the process is killed. */
  readonly how: 'once' | 'from there on' | 'killed';
}

/** What a driver says of a connection that is gone. */
const lost = (): Error => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** Counts the steps of some work (statements, questions to the processor, mails), and cuts it at one of them. */
export class Cuts {
  readonly #names: string[] = [];
  #cut: Cut | undefined;
  #isCounting = false;
  #isGone = false;

  /** The names of the steps that the work takes. */
  async counted(work: () => Promise<unknown>): Promise<readonly string[]> {
    this.#names.length = 0;
    this.#isCounting = true;
    await work();
    this.#isCounting = false;
    return [...this.#names];
  }

  /** Runs the work with a cut; resolves to what it answers, or to the error that it rejects with. */
  async at(cut: Cut, work: () => Promise<unknown>): Promise<unknown> {
    this.#names.length = 0;
    this.#cut = cut;
    this.#isCounting = true;
    try {
      return await work();
    } catch (error) {
      return error;
    } finally {
      this.#cut = undefined;
      this.#isCounting = false;
      this.#isGone = false;
    }
  }

  /** Whether the steps are gone for the rest of the work. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** One step: throws where it is cut. */
  async step<Answer>(name: string, work: () => Promise<Answer>): Promise<Answer> {
    if (!this.#isCounting) return work();
    if (this.#isGone) throw lost();
    this.#names.push(name);
    const isHere = this.#cut?.step === this.#names.length;
    if (isHere && this.#cut!.when === 'before') this.#cutHere();
    const answer = await work();
    if (isHere && this.#cut!.when === 'after') this.#cutHere();
    return answer;
  }

  #cutHere(): never {
    if (this.#cut!.how === 'killed') process.kill(process.pid, 'SIGKILL');
    this.#isGone = this.#cut!.how === 'from there on';
    throw lost();
  }
}

/** The driver of a database whose statements are steps, the beginning and end of transactions too. */
export function cuttable(driver: DatabaseDriver, cuts: Cuts): DatabaseDriver {
  const { dialect } = driver;
  const wrapped: Dialect = {
    createDriver: () => new CuttableDriver(dialect.createDriver(), cuts),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (database) => dialect.createIntrospector(database),
  };
  return { ...driver, dialect: wrapped };
}

class CuttableDriver implements Driver {
  readonly #driver: Driver;
  readonly #cuts: Cuts;

  constructor(driver: Driver, cuts: Cuts) {
    this.#driver = driver;
    this.#cuts = cuts;
  }

  init(): Promise<void> {
    return this.#driver.init();
  }

  async acquireConnection(): Promise<CuttableConnection> {
    return new CuttableConnection(await this.#driver.acquireConnection(), this.#cuts);
  }

  beginTransaction(connection: CuttableConnection, settings: TransactionSettings): Promise<void> {
    return this.#cuts.step('begin', () => this.#driver.beginTransaction(connection.inner, settings));
  }

  commitTransaction(connection: CuttableConnection): Promise<void> {
    return this.#cuts.step('commit', () => this.#driver.commitTransaction(connection.inner));
  }

  /** A server takes back what a client that went away has not committed, so this is never cut. */
  rollbackTransaction(connection: CuttableConnection): Promise<void> {
    return this.#driver.rollbackTransaction(connection.inner);
  }

  releaseConnection(connection: CuttableConnection): Promise<void> {
    return this.#driver.releaseConnection(connection.inner);
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }
}

class CuttableConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #cuts: Cuts;

  constructor(inner: DatabaseConnection, cuts: Cuts) {
    this.inner = inner;
    this.#cuts = cuts;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#cuts.step(query.sql.slice(0, 60), () => this.inner.executeQuery<Row>(query));
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.inner.streamQuery<Row>(query, chunkSize);
  }
}

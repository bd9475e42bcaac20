import {
  CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type DatabaseMetadata,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteQueryCompiler,
  sql,
  type TableMetadata,
} from 'kysely';

/** What a statement answered: its rows, and how many rows it changed. */
export interface StatementAnswer {
  readonly rows: readonly Record<string, unknown>[];
  readonly changed: number;
}

/** A database of SQLite's language that answers one statement after the other: a file, a server or a binding. */
export interface SqliteStatements {
  run(statement: string, parameters: readonly unknown[]): Promise<StatementAnswer>;
}

/** An open transaction; `commit` or `rollback` ends it. */
export interface SqliteTransaction extends SqliteStatements {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** One that may have transactions; at most one statement or transaction is asked of it at a time where `oneAtATime` is set. */
export interface SqliteSource extends SqliteStatements {
  /** Absent where the database has none (D1). */
  begin?(): Promise<SqliteTransaction>;
  /** Runs statements as one step, where there are no transactions: all of them or none. */
  batch?(statements: readonly { statement: string; parameters: readonly unknown[] }[]): Promise<readonly StatementAnswer[]>;
  readonly oneAtATime: boolean;
  close(): Promise<void>;
}

/** Statements that run as one step, as one query; its rows are `{ changed }` of each in turn. */
interface Batch extends CompiledQuery {
  readonly batch: readonly CompiledQuery[];
}

/** Runs statements as one step on a database without transactions; resolves to how many records each has changed. */
export async function inOneStep(database: Kysely<never>, queries: readonly CompiledQuery[]): Promise<readonly number[]> {
  const batch: Batch = { ...CompiledQuery.raw('-- several statements'), batch: queries };
  const { rows } = await database.executeQuery<{ changed: number }>(batch);
  return rows.map(({ changed }) => changed);
}

/** Kysely's dialect for such a database. */
export class SqliteOverQueries implements Dialect {
  readonly #source: SqliteSource;

  constructor(source: SqliteSource) {
    this.#source = source;
  }

  createDriver(): Driver {
    return new StatementsDriver(this.#source);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): SqliteAdapter {
    return new SqliteAdapter();
  }

  createIntrospector(database: Kysely<unknown>): DatabaseIntrospector {
    return new TableIntrospector(database);
  }
}

class StatementsConnection implements DatabaseConnection {
  readonly #source: SqliteSource;
  #transaction: SqliteTransaction | undefined;

  constructor(source: SqliteSource) {
    this.#source = source;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if ('batch' in query) return { rows: (await this.#batch(query as Batch)) as Row[] };
    const { sql: statement, parameters } = query;
    const { rows, changed } = await (this.#transaction ?? this.#source).run(statement, parameters.map(storedValue));
    return { rows: rows as Row[], numAffectedRows: BigInt(changed) };
  }

  async #batch({ batch }: Batch): Promise<readonly { changed: number }[]> {
    if (!this.#source.batch) throw new Error('this database takes one statement at a time');
    const answers = await this.#source.batch(
      batch.map(({ sql, parameters }) => ({ statement: sql, parameters: parameters.map(storedValue) })),
    );
    return answers.map(({ changed }) => ({ changed }));
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('rows are read whole from this database');
  }

  async begin(): Promise<void> {
    if (!this.#source.begin) throw new Error('this database has no transactions');
    this.#transaction = await this.#source.begin();
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    await transaction?.[how]();
  }
}

/** SQLite stores no booleans and no dates. */
function storedValue(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value instanceof Date ? value.toISOString() : (value ?? null);
}

class StatementsDriver implements Driver {
  readonly #source: SqliteSource;
  #turn: Promise<void> = Promise.resolve();
  readonly #releases = new WeakMap<StatementsConnection, () => void>();

  constructor(source: SqliteSource) {
    this.#source = source;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<StatementsConnection> {
    const connection = new StatementsConnection(this.#source);
    if (!this.#source.oneAtATime) return connection;
    const before = this.#turn;
    let release = (): void => {};
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    this.#releases.set(connection, release);
    return connection;
  }

  async beginTransaction(connection: StatementsConnection): Promise<void> {
    await connection.begin();
  }

  async commitTransaction(connection: StatementsConnection): Promise<void> {
    await connection.end('commit');
  }

  async rollbackTransaction(connection: StatementsConnection): Promise<void> {
    await connection.end('rollback');
  }

  async releaseConnection(connection: StatementsConnection): Promise<void> {
    this.#releases.get(connection)?.();
  }

  async destroy(): Promise<void> {
    await this.#source.close();
  }
}

/** Reads tables one pragma at a time: D1 refuses the joins over pragmas that Kysely's own reader makes. */
class TableIntrospector implements DatabaseIntrospector {
  readonly #database: Kysely<unknown>;

  constructor(database: Kysely<unknown>) {
    this.#database = database;
  }

  async getSchemas(): Promise<[]> {
    return [];
  }

  async getTables(): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string; type: string }>`
      select name, type from sqlite_master
      where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\' and name not like '\\_cf\\_%' escape '\\'`.execute(
      this.#database,
    );
    const tables: TableMetadata[] = [];
    for (const { name, type } of rows) {
      const columns = await sql<{ name: string; type: string; notnull: number; dflt_value: unknown; pk: number }>`
        select * from pragma_table_info(${name})`.execute(this.#database);
      tables.push({
        name,
        isView: type === 'view',
        columns: columns.rows.map((column) => ({
          name: column.name,
          dataType: column.type,
          isNullable: !column.notnull,
          isAutoIncrementing: false,
          hasDefaultValue: column.dflt_value !== null,
        })),
      });
    }
    return tables;
  }

  async getMetadata(): Promise<DatabaseMetadata> {
    return { tables: await this.getTables() };
  }
}

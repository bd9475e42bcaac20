import { type CreateTableBuilder, type RawBuilder, sql } from 'kysely';
import type { DatabaseLanguage } from './database.js';

/** The types of columns, by what they hold, in the words of one database. */
export interface ColumnTypes {
  /** A name, address or hash of at most 255 characters that may be searched for; compared byte by byte. */
  readonly key: RawBuilder<unknown>;
  /** A text of any length. */
  readonly text: RawBuilder<unknown>;
  /** A whole number below 2^53. */
  readonly whole: RawBuilder<unknown>;
  readonly yesOrNo: RawBuilder<unknown>;
  /** A moment as better-auth keeps it. */
  readonly moment: RawBuilder<unknown>;
}

const SQLITE: ColumnTypes = {
  key: sql`text`,
  text: sql`text`,
  whole: sql`integer`,
  yesOrNo: sql`integer`,
  moment: sql`date`,
};

/** MySQL compares without case by default, which would make one of two different hashes. */
const BYTES = sql`character set utf8mb4 collate utf8mb4_bin`;

/** The types by language. */
export const COLUMN_TYPES: Readonly<Record<DatabaseLanguage, ColumnTypes>> = {
  sqlite: SQLITE,
  postgres: { key: sql`varchar(255)`, text: sql`text`, whole: sql`bigint`, yesOrNo: sql`boolean`, moment: sql`timestamptz` },
  mysql: {
    key: sql`varchar(255) ${BYTES}`,
    text: sql`longtext ${BYTES}`,
    whole: sql`bigint`,
    yesOrNo: sql`boolean`,
    moment: sql`datetime(3)`,
  },
};

/** One step of the tables' history. It can be run again after it broke off anywhere: what is there already is left. */
export interface Migration {
  readonly version: number;
  up(make: SchemaSteps, type: ColumnTypes): Promise<void>;
}

/** Makes tables and indexes where there are none of that name. */
export interface SchemaSteps {
  table(name: string, columns: (table: CreateTableBuilder<string, string>) => CreateTableBuilder<string, string>): Promise<void>;
  index(name: string, table: string, columns: readonly string[], options?: { unique?: boolean }): Promise<void>;
}

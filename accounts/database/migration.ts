import type { CreateTableBuilder } from 'kysely';
import type { ColumnTypes } from './column-types.js';

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

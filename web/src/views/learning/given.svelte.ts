/** The table that the reader gave, which the parts of this view share. */
import { sentence } from '../../lib/api';
import { Latest } from '../../lib/overlap.svelte';
import { type Encoding, readTable, type Table } from './table';

class Given {
  table = $state.raw<Table>();
  encodings = $state.raw<readonly Encoding[]>([]);
  problem = $state('');

  readonly #reading = new Latest();

  take(file: File): Promise<void> {
    this.problem = '';
    return this.#reading.run(
      () => readTable(file),
      (table) => {
        this.table = table;
        this.encodings = table.columns.map(({ isNumeric }) => (isNumeric ? 'numeric' : ''));
      },
      (error) => (this.problem = sentence(error)),
    );
  }
}

export const given = new Given();

/** The table that the reader gave, which the parts of this view share. */
import { sentence } from '../../lib/api';
import { type Encoding, readTable, type Table } from './table';

class Given {
  table = $state.raw<Table>();
  encodings = $state.raw<readonly Encoding[]>([]);
  problem = $state('');

  async take(file: File): Promise<void> {
    this.problem = '';
    try {
      this.table = await readTable(file);
      this.encodings = this.table.columns.map(({ isNumeric }) => (isNumeric ? 'numeric' : ''));
    } catch (error) {
      this.problem = sentence(error);
    }
  }
}

export const given = new Given();

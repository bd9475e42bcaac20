/** Columns of one buffer or detector. */
export const MAX_COLUMNS = 500;
/** Characters of a column's name. */
export const MAX_NAME_CHARACTERS = 256;
/** Bytes of one text in UTF-8. */
export const MAX_TEXT_BYTES = 65_536;
/** Cells that one append to the native table takes; it is synchronous, and this many take about 0.1 ms. */
export const CELLS_PER_PIECE = 8_192;
/** Numbers beyond this are refused: the sums of their squares overflow. */
export const LARGEST_NUMBER = 1e150;

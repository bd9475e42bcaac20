/** Prints rows in columns, the titles first. What would move the cursor of a terminal is left out: models and servers write some of the texts. */
export function printTable(given: readonly (readonly string[])[]): void {
  const rows = given.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}+/gu, ' ')));
  const widths = rows[0]!.map((_title, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]!));
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}

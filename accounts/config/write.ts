import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';

/** Writes the price of one plan into the file, whose comments and order stay. */
export async function writePrice(config: string, plan: string, priceId: string): Promise<void> {
  const document = parseDocument(await readFile(config, 'utf8'));
  const plans = document.toJS().plans as { name: string }[];
  document.setIn(['plans', plans.findIndex(({ name }) => name === plan), 'payment_price_id'], priceId);
  const draft = `${config}.${process.pid}.new`;
  await writeFile(draft, document.toString({ lineWidth: 0 }));
  await rename(draft, config);
}

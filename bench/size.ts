/** True for `npm run bench -- --quick`: small sizes and few rounds, to see that everything runs and where it stands by and large. */
export const QUICK = process.argv.includes('--quick');

/** How large a measurement is: what the environment says, else its usual size, or the one of a quick run. */
export function sizeOf(variable: string, usual: number, quick: number): number {
  const said = process.env[variable];
  return said === undefined ? (QUICK ? quick : usual) : Number(said);
}

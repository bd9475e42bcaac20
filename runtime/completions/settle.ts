/** How long an opening waits for what it began. */
const PATIENCE_MS = 1_000;

/**
 * Waits for the beginning of an answer, so that a failure there is still a failure of the whole request; one that takes longer than a second goes
 * on while the answer begins.
 */
export async function settleSoon(begun: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  try {
    await Promise.race([begun, patience]);
  } finally {
    clearTimeout(timer);
  }
}

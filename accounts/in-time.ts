/** The answer, or an `Error` that names who did not give it within `ms` milliseconds. What was asked goes on unheard. */
export async function inTime<T>(answer: Promise<T>, ms: number, who: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${who} did not answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

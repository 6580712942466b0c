/**
 * Waits for a promise no longer than so many milliseconds. What it stands for goes on; its late failure is nobody's.
 *
 * @throws Error when the time is over
 */
export async function within<Value>(milliseconds: number, what: string, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}

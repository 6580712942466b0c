/**
 * Makes of some work one that never runs twice at once: whoever asks while it runs gets the run after, which all who asked
 * meanwhile share. So each is answered by a run that began after they asked.
 */
export function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null;
  let next: Promise<Result> | null = null;
  const ask = (): Promise<Result> => {
    if (running === null) {
      running = work().finally(() => {
        running = null;
      });
      return running;
    }
    next ??= running
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        next = null;
        return ask();
      });
    return next;
  };
  return ask;
}

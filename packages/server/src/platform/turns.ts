/** Runs the work when its turn comes, and answers what it answers. */
export type InTurn = <Result>(party: string, work: () => Promise<Result>) => Promise<Result>;

/** Lets what belongs to one party go one after the other, in the order it came; other parties do not wait for it. */
export function turns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (party, work) => {
    const before = last.get(party) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(party, mine);
    try {
      return await mine;
    } finally {
      if (last.get(party) === mine) last.delete(party);
    }
  };
}

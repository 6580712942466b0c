/** A queue in which parties take turns, however much each of them brings; what one party brings stays in order. */
export class FairQueue<Item> {
  readonly #waiting = new Map<string, Item[]>();
  readonly #mostEach: number;

  /** @param mostEach how many of one party may wait */
  constructor(mostEach: number) {
    this.#mostEach = mostEach;
  }

  /** @returns false where too many of that party wait already */
  add(party: string, item: Item): boolean {
    const waiting = this.#waiting.get(party) ?? [];
    if (waiting.length >= this.#mostEach) return false;
    this.#waiting.set(party, [...waiting, item]);
    return true;
  }

  /** Takes the first of the party whose turn it is. */
  take(): Item | undefined {
    const [turn] = this.#waiting;
    if (turn === undefined) return undefined;
    const [party, [item, ...rest]] = turn;
    this.#waiting.delete(party);
    if (rest.length > 0) this.#waiting.set(party, rest);
    return item;
  }

  /** Takes out all that are meant, of every party. */
  takeAll(meant: (item: Item) => boolean): Item[] {
    return [...this.#waiting].flatMap(([party, items]) => {
      const kept = items.filter((item) => !meant(item));
      if (kept.length > 0) this.#waiting.set(party, kept);
      else this.#waiting.delete(party);
      return items.filter(meant);
    });
  }
}

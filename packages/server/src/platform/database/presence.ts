/** Whether the database answers, and since when this process may have missed something of it. */
export class Presence {
  #answers = false;
  #known: Date | null = null;

  get answers(): boolean {
    return this.#answers;
  }

  /** When everything of the database was last known here; null: never. */
  get known(): Date | null {
    return this.#known;
  }

  /** The database has answered, and everything it held at that instant is known here. */
  confirm(at: Date): void {
    this.#answers = true;
    this.#known = at;
  }

  /** What is known is a copy that was complete at that instant. */
  recall(at: Date): void {
    this.#known = at;
  }

  lose(): void {
    this.#answers = false;
  }

  /** Whole seconds for which this process may have missed something; null: the database answers. */
  age(now: Date): number | null {
    if (this.#answers || this.#known === null) return null;
    return Math.max(0, Math.floor((now.getTime() - this.#known.getTime()) / 1000));
  }
}

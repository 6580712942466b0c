import type { Clock } from '../../platform/index.ts';

/** Milliseconds in which time is counted together. */
const windowLength = 2_000;
/** What a connection may use of them for evaluations that are slow. */
export const mostOfConnection = 250;
/** What all connections may use together: the process serves others too. */
const mostOfProcess = 500;

/** Whom the time of an evaluation is charged to: a connection, mostly. */
export interface Payer {
  readonly id: string;
}

/** Counts the time of slow evaluations, during which a process does nothing else. */
export class SlowTime {
  readonly #clock: Clock;
  #begin = Number.NEGATIVE_INFINITY;
  #used = 0;
  readonly #usedBy = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds that a connection may use now; too little to begin where it is below 1. */
  left({ id }: Payer): number {
    const passed = this.#passed();
    if (passed < 0 || passed >= windowLength) {
      this.#begin = this.#now();
      this.#used = 0;
      this.#usedBy.clear();
    }
    return Math.min(mostOfConnection - (this.#usedBy.get(id) ?? 0), mostOfProcess - this.#used);
  }

  use({ id }: Payer, milliseconds: number): void {
    this.#used += milliseconds;
    this.#usedBy.set(id, (this.#usedBy.get(id) ?? 0) + milliseconds);
  }

  /** After which there is time again for everybody. */
  get secondsToNext(): number {
    return Math.ceil((windowLength - this.#passed()) / 1_000);
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #passed(): number {
    return this.#now() - this.#begin;
  }
}

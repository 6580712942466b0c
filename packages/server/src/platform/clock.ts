/** Where the time comes from. Handed in everywhere, so that schedules are tested by moving a clock. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

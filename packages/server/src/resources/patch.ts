/** The members that were sent: one that may be undefined becomes one that may be absent. */
export type Sent<Patch> = {
  [Key in keyof Patch as undefined extends Patch[Key] ? never : Key]: Patch[Key];
} & {
  [Key in keyof Patch as undefined extends Patch[Key] ? Key : never]?: Exclude<Patch[Key], undefined>;
};

/** Drops what is undefined, so that spreading it over a state changes only what was sent. */
export function sent<Patch extends object>(patch: Patch): Sent<Patch> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Sent<Patch>;
}

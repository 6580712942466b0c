import { z } from 'zod';

/** Saved groups that a rule asks for, as answers have them. */
export const savedGroupTargeting = z
  .strictObject({ matchType: z.enum(['all', 'any', 'none']), savedGroups: z.array(z.string()) })
  .meta({ id: 'SavedGroupTargeting' });
export type SavedGroupTargeting = z.output<typeof savedGroupTargeting>;

/** The same as requests bring it in. */
export const savedGroupMatch = z.strictObject({ match: z.enum(['all', 'none', 'any']), ids: z.array(z.string()) });

/** A feature whose value decides whether this rule applies: the condition is judged on `{"value": …}`. */
export const prerequisite = z.strictObject({ id: z.string(), condition: z.string() }).meta({ id: 'Prerequisite' });
export type Prerequisite = z.output<typeof prerequisite>;

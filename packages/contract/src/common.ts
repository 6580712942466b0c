import { z } from 'zod';

/** An instant, ISO 8601 with `Z` or an offset. Answers always carry UTC with milliseconds. */
export const timestamp = z.iso.datetime({ offset: true });

/** What people write about something. */
const prose = () => z.string().max(10_000);
export const description = prose();
export const reason = prose();

/** Labels that requests bring; unknown ones come into existence. */
export const tags = z.array(
  z.string().min(2, 'must have at least 2 characters').max(64, 'must have at most 64 characters'),
);

/** `true`, `false`, `1` or `0` in a query string. */
export const booleanText = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'sensitive', error: 'must be true, false, 1 or 0' })
  .meta({ enum: ['true', 'false', '0', '1'] });

/** A list in a query string: items are separated by commas, and percent-encoded where they hold one. */
export const encodedList = z.string().transform((text, context) => {
  const items = text.split(',').filter((item) => item !== '');
  try {
    return items.map(decodeURIComponent);
  } catch {
    context.addIssue(
      'must be a list with commas in between, in which "%" only stands before two hexadecimal digits of UTF-8',
    );
    return z.NEVER;
  }
});

/** A whole number in a query string, written in digits. */
const integerText = ({ least, most, standard }: { least: number; most?: number; standard: number }) => {
  const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  return z
    .string()
    .regex(/^-?\d{1,15}$/, `must be a whole number ${range}`)
    .transform(Number)
    .refine((n) => n >= least && n <= (most ?? Number.MAX_SAFE_INTEGER), `must be a whole number ${range}`)
    .default(standard)
    .meta({ type: 'integer', minimum: least, ...(most === undefined ? {} : { maximum: most }), pattern: undefined });
};

/** The page that a list answers: `limit` items from `offset` on. */
export const pageQuery = {
  limit: integerText({ least: 1, most: 100, standard: 10 }),
  offset: integerText({ least: 0, standard: 0 }),
};

/** `skipPagination`, on the lists that know it: everything in one answer, where the server's setting allows it. */
export const skipPaginationQuery = { skipPagination: booleanText.default(false) };

/** What every paged answer carries beside its list. */
const pageFields = {
  limit: z.int(),
  offset: z.int(),
  count: z.int(),
  total: z.int(),
  hasMore: z.boolean(),
  nextOffset: z.int().nullable(),
};

/** A paged answer: the list under its plural, and where the page stands in the whole. */
export function pageOf<Key extends string, Item extends z.ZodType>(key: Key, item: Item) {
  const list = { [key]: z.array(item) } as { [K in Key]: z.ZodArray<Item> };
  return z.strictObject({ ...list, ...pageFields });
}

/** Path parameter `id`. */
export const idParams = z.strictObject({ id: z.string() });

export const deletedResponse = z.strictObject({ deletedId: z.string() });

/** Flags of a write that let it pass what stopped it, each for callers who may use it. */
export const overrideFlags = {
  ignoreWarnings: z.boolean().optional(),
  skipSchemaValidation: z.boolean().optional(),
  skipHooks: z.boolean().optional(),
};

/**
 * Keeps a name of the caller's choosing from being one that cannot be the key of a JSON object: parsers refuse that one, ours
 * too, so that what is answered could not be sent back.
 */
export const usableAsKey = [
  (name: string): boolean => name !== '__proto__',
  'must not be "__proto__", which JSON parsers refuse as a key',
] as const;

import { invalid } from '../platform/index.ts';
import type { Sliceable } from '../record/index.ts';

/** What a paged list was asked for. */
export interface PageQuery {
  readonly limit: number;
  readonly offset: number;
  readonly skipPagination?: boolean;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly fields: {
    limit: number;
    offset: number;
    count: number;
    total: number;
    hasMore: boolean;
    nextOffset: number | null;
  };
}

/** Cuts the page out of everything that matches and may be seen. */
export type Paginate = <Item>(matching: Sliceable<Item>, query: PageQuery) => Page<Item>;

/** @param allowSkip the setting `API_ALLOW_SKIP_PAGINATION` */
export function pagination(allowSkip: boolean): Paginate {
  return (matching, query) => {
    const total = matching.length;
    if (query.skipPagination === true) {
      if (!allowSkip) {
        throw invalid(
          'skipPagination is not allowed on this server: its setting API_ALLOW_SKIP_PAGINATION is off. Ask for pages.',
        );
      }
      return {
        items: matching.slice(0),
        fields: { limit: total, offset: 0, count: total, total, hasMore: false, nextOffset: null },
      };
    }
    const { limit, offset } = query;
    const items = matching.slice(offset, offset + limit);
    const next = offset + items.length;
    const hasMore = next < total;
    return {
      items,
      fields: { limit, offset, count: items.length, total, hasMore, nextOffset: hasMore ? next : null },
    };
  };
}

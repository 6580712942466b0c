import type { BodyOf, CodeRef, listCodeRefs, postCodeRefs, QueryOf, ResponseOf } from '@halyard/contract';
import type { Paginate } from '../../http/index.ts';
import type { Entitlements } from '../../organization/index.ts';
import { type Db, forbidden, lockWrites, quotedList } from '../../platform/index.ts';
import type { Recorder } from '../../record/index.ts';
import { type Requester, visible } from '../../requester/index.ts';
import { inProject } from '../direct-write.ts';
import { featureKind, seenIn } from '../feature.ts';
import { findFeature } from '../find-feature.ts';
import {
  allPlaces,
  type CodeReferenceRow,
  featuresNamedIn,
  putReferences,
  rowsAt,
  rowsOfFeature,
  type StoredReference,
} from './rows.ts';

/** Where features are named in source code. No payload reads it, and nothing is told of it. */
export interface CodeReferenceService {
  /** Of the features that the requester may see. */
  list(requester: Requester, query: QueryOf<typeof listCodeRefs>): Promise<ResponseOf<typeof listCodeRefs>>;
  /** @throws Refusal (notFound) when there is no such feature, or the requester may not see it */
  ofFeature(requester: Requester, id: string): Promise<CodeRef[]>;
  /**
   * Takes in what was found in one branch.
   *
   * @param deleteMissing features that were not found there any more have no references there
   * @returns every feature whose references were written, ascending
   * @throws Refusal (forbidden) unless the requester may change all of them; then nothing is written
   */
  upload(requester: Requester, found: BodyOf<typeof postCodeRefs>, deleteMissing: boolean): Promise<string[]>;
}

interface CodeReferenceTools {
  readonly db: Db;
  readonly recorder: Recorder;
  readonly paginate: Paginate;
  readonly entitlements: Entitlements;
}

export function codeReferenceService(tools: CodeReferenceTools): CodeReferenceService {
  const { db, recorder, paginate, entitlements } = tools;

  return {
    async list(requester, query) {
      const { organization, states } = requester;
      const known = (await allPlaces(db, organization)).flatMap((place) => {
        const live = states.get(featureKind, place.feature);
        return live === null ? [] : [{ place, live }];
      });
      const seen = visible(requester, known, ({ live }) => seenIn(live.state));
      const { items, fields } = paginate(seen, query);
      const rows = await rowsAt(
        db,
        organization,
        items.map(({ place }) => place),
      );
      return { codeRefs: await shown(db, organization, rows), ...fields };
    },

    async ofFeature(requester, wanted) {
      const { organization, states } = requester;
      const { id } = findFeature(requester, states, wanted);
      return shown(db, organization, await rowsOfFeature(db, organization, id));
    },

    async upload(requester, { repoName: repo, branch, refs }, deleteMissing) {
      const { organization, actor } = requester;
      if (refs.length > 0) entitlements.require('code-references');
      const found = Map.groupBy(refs, ({ flagKey }) => flagKey);
      return recorder.write(organization, actor, async (tx, instant) => {
        await lockWrites(tx, 'code_reference', organization);
        const named = deleteMissing ? await featuresNamedIn(tx, organization, repo, branch) : [];
        const missing = named.filter((feature) => !found.has(feature));
        demandChanging(requester, [...found.keys()], missing);
        const row = (feature: string, refs: readonly StoredReference[]): CodeReferenceRow => ({
          repo,
          branch,
          feature,
          refs,
          date_updated: instant,
        });
        const rows = [...[...found].map(([feature, at]) => row(feature, at)), ...missing.map((one) => row(one, []))];
        await putReferences(tx, organization, rows);
        return { audit: [], result: rows.map(({ feature }) => feature).sort() };
      });
    },
  };
}

/**
 * @param missing features that lose their references, which of one that is deleted anybody may clear
 * @throws Refusal (forbidden) naming those that the requester may not change
 */
function demandChanging(requester: Requester, found: readonly string[], missing: readonly string[]): void {
  const mayCreate = requester.may('createFeatures', { projects: [] });
  const may = (key: string, unknown: boolean): boolean => {
    const live = requester.states.get(featureKind, key);
    if (live === null) return unknown;
    return requester.may('editFeatureDrafts', inProject(live.state.project));
  };
  const refused = [...found.filter((key) => !may(key, mayCreate)), ...missing.filter((key) => !may(key, true))];
  if (refused.length > 0) {
    throw forbidden(
      `The key may not change the code references of ${quotedList(refused)}: that needs editFeatureDrafts in the project of each feature, and createFeatures for those that do not exist. Nothing was stored.`,
    );
  }
}

async function shown(db: Db, organization: string, rows: readonly CodeReferenceRow[]): Promise<CodeRef[]> {
  const { name } = await db
    .selectFrom('organization')
    .select('name')
    .where('id', '=', organization)
    .executeTakeFirstOrThrow();
  return rows.map(({ repo, branch, feature, refs, date_updated }) => ({
    organization: name,
    dateUpdated: date_updated.toISOString(),
    feature,
    repo,
    branch,
    refs: refs.map(({ contentHash: _hidden, ...ref }) => ref),
  }));
}

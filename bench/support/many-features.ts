import { featureKind } from '../../packages/server/src/flags/index.ts';
import { featureState } from '../../packages/server/testing/flags/states.ts';
import { withRecorder } from '../../packages/server/testing/recorder.ts';
import { content } from '../compile.ts';
import { progress } from './rows.ts';

const atOnce = 1_000;

export const manyId = (index: number): string => `feature-${index}`;

/** Publishes features beside a running service, many at once: over the API it would take minutes. */
export async function publishFeatures(dataDirectory: string, from: number, to: number): Promise<void> {
  progress(`Publishing the features ${from} to ${to} …`);
  const now = new Date();
  await withRecorder(dataDirectory, async (recorder, organization) => {
    for (let begin = from; begin < to; begin += atOnce) {
      const indexes = Array.from({ length: Math.min(atOnce, to - begin) }, (_, index) => begin + index);
      const changes = indexes.map((index) => ({
        kind: featureKind,
        id: manyId(index),
        state: featureState(content(index), ['production'], now),
      }));
      const publication = { changes, audit: [] };
      await recorder.publish(organization, { type: 'system' }, () => ({ publication, result: null }));
    }
  });
}

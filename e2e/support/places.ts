import { postFeature, type SdkConnection } from '@halyard/contract';
import {
  type DataDirectory,
  endAll,
  type Halyard,
  newDataDirectory,
  type RunningProgram,
  secretKey,
  startEdge,
  startHalyard,
} from '../../packages/server/testing/halyard.ts';
import { freshId, newFeature } from '../../packages/server/testing/objects.ts';

/** A running service, and an edge that follows it. */
export interface Places {
  readonly halyard: Halyard;
  readonly edge: RunningProgram;
  /** Where an SDK may be pointed to. */
  url(place: PlaceName): string;
  make(body: Parameters<typeof newFeature>[1]): ReturnType<typeof newFeature>;
  /** Waits until a place delivers to a connection everything that was written so far. */
  caughtUp(place: PlaceName, connection: SdkConnection): Promise<void>;
  stop(): Promise<void>;
}

export type PlaceName = (typeof placeNames)[number];
export const placeNames = ['service', 'edge'] as const;

const owner = { id: 'admin@localhost' };

/** @param prepare makes what the edge must know from its start on: it looks for new connections once a minute only */
export async function startPlaces(prepare: (halyard: Halyard) => Promise<unknown>): Promise<Places> {
  const directories: DataDirectory[] = [];
  const newPath = async () => {
    const directory = await newDataDirectory();
    directories.push(directory);
    return directory.path;
  };
  const halyard = await startHalyard({ HALYARD_DATA_DIR: await newPath() });
  await prepare(halyard);
  const edge = await startEdge({
    HALYARD_DATA_DIR: await newPath(),
    HALYARD_UPSTREAM: halyard.url,
    HALYARD_EDGE_SECRET_KEY: secretKey,
  });
  const url = (place: PlaceName) => (place === 'edge' ? edge : halyard).url;
  return {
    halyard,
    edge,
    url,
    async caughtUp(place, { key, remoteEvalEnabled }) {
      // The version of one more write is newer than all that went before.
      const body = { id: freshId(), defaultValue: 'false', owner: owner.id };
      const { version } = await halyard.admin.answer(postFeature, { body });
      const headers = { 'X-Service-Min-Config-Version': String(version) };
      const path = remoteEvalEnabled === true ? 'eval' : 'features';
      const init = remoteEvalEnabled === true ? { method: 'POST', body: '{}', headers } : { headers };
      const { status } = await fetch(`${url(place)}/api/${path}/${key}`, init);
      if (status !== 200) throw new Error(`The ${place} does not deliver version ${version}: ${status}`);
    },
    make: (body) => newFeature({ admin: halyard.admin, owner }, body),
    async stop() {
      await endAll();
      for (const directory of directories) await directory.remove();
    },
  };
}

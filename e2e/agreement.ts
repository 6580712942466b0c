import { GrowthBookClient } from '@growthbook/growthbook';
import {
  getFeature,
  getFeatureV1,
  postAttribute,
  postEnvironment,
  postFeature,
  postFeatureV1,
  postNamespace,
  postSavedGroup,
  type SdkConnection,
  updateFeature,
  updateFeatureV1,
} from '@halyard/contract';
import type { JsonValue, Payload } from '@halyard/evaluation';
import * as fc from 'fast-check';
import type { Client } from '../packages/server/testing/client.ts';
import { payloadOf } from '../packages/server/testing/delivery.ts';
import { endAll, newDataDirectory, startHalyard } from '../packages/server/testing/halyard.ts';
import { newConnection } from '../packages/server/testing/objects.ts';
import {
  attributes,
  flag,
  flagId,
  type Known,
  namespaces,
  type RandomFlag,
  savedGroup,
  user,
} from './support/random-flags.ts';

/**
 * Makes random flags over both versions of the REST interface, with everything they can target by, and compares for random
 * users what comes of them: the published SDK on each kind of payload, remote evaluation, OpenFeature. All must agree.
 *
 *   node e2e/agreement.ts [flags] [users] [seed]
 */

/** What a run came to. */
interface Agreement {
  /** Values that were compared with what the SDK says on the plain payload. */
  readonly compared: number;
  /** Flags that gave different users different values. */
  readonly varied: number;
  /** Where they differed. */
  readonly findings: readonly string[];
}

const owner = 'admin@localhost';
const groups = 40;
const mostFindings = 20;

/** @param say takes a line on what is going on */
export async function watchAgreement(
  sizes: { readonly flags: number; readonly users: number; readonly seed: number },
  say: (line: string) => void,
): Promise<Agreement> {
  const { flags, users, seed } = sizes;
  const directory = await newDataDirectory();
  try {
    const { admin, url } = await startHalyard({ HALYARD_DATA_DIR: directory.path });
    const known = await makeTargets(admin, seed);
    const findings: string[] = [];
    let version = 0;
    for (let index = 0; index < flags; index++) {
      version = await make(admin, one(flag(index, known), seed + index));
      if ((index + 1) % 1_000 === 0) say(`${index + 1} flags are made.`);
    }
    for (let index = 0; index < flags; index += 5) await sendBack(admin, flagId(index), findings);
    // Not before: each flag would be delivered as it is made.
    const connections = await makeConnections(admin);
    const ways = await waysOf(url, connections, version);
    return { ...(await compare(ways, fc.sample(user, { numRuns: users, seed }), findings)), findings };
  } finally {
    await endAll();
    await directory.remove();
  }
}

const one = <Value>(arbitrary: fc.Arbitrary<Value>, seed: number): Value => {
  const [value] = fc.sample(arbitrary, { numRuns: 1, seed });
  if (value === undefined) throw new Error('One was asked for.');
  return value;
};

async function makeTargets(admin: Client, seed: number): Promise<Known> {
  await admin.call(postEnvironment, { body: { id: 'dev', defaultState: true } });
  for (const body of attributes) await admin.call(postAttribute, { body });
  const named: string[] = [];
  for (const body of namespaces) named.push((await admin.call(postNamespace, { body })).namespace.id);
  const known = {
    lists: [] as { id: string; attribute: string }[],
    conditions: [] as string[],
    namespaces: named,
  } satisfies Known;
  for (let index = 0; index < groups; index++) {
    const body = { ...one(savedGroup(index, known), seed + index), owner };
    const { savedGroup: made } = await admin.call(postSavedGroup, { body });
    if (made.type === 'condition') known.conditions.push(made.id);
    else known.lists.push({ id: made.id, attribute: made.attributeKey ?? '' });
  }
  return known;
}

interface Connections {
  readonly plain: SdkConnection;
  readonly referring: SdkConnection;
  readonly remote: SdkConnection;
  readonly remoteReferring: SdkConnection;
}

async function makeConnections(admin: Client): Promise<Connections> {
  const latest = { sdkVersion: '1.8.0', includeRuleIds: true };
  return {
    plain: await newConnection(admin, latest),
    referring: await newConnection(admin, { ...latest, savedGroupReferencesEnabled: true, encryptPayload: true }),
    remote: await newConnection(admin, { ...latest, remoteEvalEnabled: true }),
    remoteReferring: await newConnection(admin, {
      ...latest,
      remoteEvalEnabled: true,
      savedGroupReferencesEnabled: true,
      encryptPayload: true,
    }),
  };
}

/** @returns the configuration version that it made */
async function make(admin: Client, { version, body }: RandomFlag): Promise<number> {
  const answer =
    version === 1
      ? await admin.answer(postFeatureV1, { body: { ...body, owner } })
      : await admin.answer(postFeature, { body: { ...body, owner } });
  return answer.version;
}

/** Writes a flag back as each version of the interface shows it, which must change nothing. */
async function sendBack(admin: Client, id: string, findings: string[]): Promise<void> {
  const params = { id };
  const { feature: before } = await admin.call(getFeature, { params });
  const { feature: v1 } = await admin.call(getFeatureV1, { params });
  const environments = Object.fromEntries(
    Object.entries(v1.environments).map(([name, { enabled, rules }]) => [name, { enabled, rules }]),
  );
  const answers = [await admin.request(updateFeatureV1, { params, body: { environments } })];
  // An inline experiment comes in through v1 only.
  if (before.rules.every(({ type }) => type !== 'experiment')) {
    answers.push(await admin.request(updateFeature, { params, body: { rules: before.rules } }));
  }
  for (const answer of answers) {
    if (answer.status !== 200) findings.push(`Sending ${id} back was refused: ${await answer.text()}`);
  }
  const { feature: after } = await admin.call(getFeature, { params });
  if (after.revision.version !== before.revision.version) findings.push(`Sending ${id} back has made a revision.`);
}

type Attributes = Readonly<Record<string, JsonValue>>;

/** Values by the id of their flag. */
type Values = ReadonlyMap<string, JsonValue>;

/** One way in which a user's values come about. */
interface Way {
  readonly name: string;
  values(attributes: Attributes): Promise<Values> | Values;
}

async function waysOf(url: string, { plain, referring, remote, remoteReferring }: Connections, version: number) {
  const post = async (path: string, body: object, headers: Record<string, string>): Promise<unknown> => {
    const minVersion = { 'X-Service-Min-Config-Version': String(version) };
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...minVersion, ...headers },
      body: JSON.stringify(body),
    });
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const bySdk = async (name: string, { key, encryptionKey }: SdkConnection): Promise<Way> => {
    const payload = (await payloadOf(url, key, version)) as never;
    const sdk = new GrowthBookClient({ decryptionKey: encryptionKey });
    await sdk.setPayload(payload);
    const ids = Object.keys(sdk.getFeatures());
    return {
      name,
      values: (attributes) =>
        new Map(ids.map((id) => [id, sdk.evalFeature(id, { attributes: { ...attributes } }).value as JsonValue])),
    };
  };
  const byRemote = (name: string, { key }: SdkConnection): Way => ({
    name,
    async values(attributes) {
      const { features } = (await post(`/api/eval/${key}`, { attributes }, {})) as Payload;
      return new Map(Object.entries(features).map(([id, { defaultValue }]) => [id, defaultValue ?? null]));
    },
  });
  const byOpenFeature = (name: string, { key }: SdkConnection): Way => ({
    name,
    async values({ id, ...rest }) {
      const context = { ...rest, ...(id === undefined ? {} : { targetingKey: id }) };
      const answer = await post('/ofrep/v1/evaluate/flags', { context }, { 'X-API-Key': key });
      const { flags } = answer as { flags: readonly { key: string; value?: JsonValue }[] };
      return new Map(flags.map((one) => [one.key, one.value ?? null]));
    },
  });
  return {
    truth: await bySdk('the SDK on the plain payload', plain),
    others: [
      await bySdk('the SDK on an encrypted payload that refers to groups', referring),
      byRemote('remote evaluation', remote),
      byRemote('remote evaluation with references', remoteReferring),
      byOpenFeature('OpenFeature', plain),
      byOpenFeature('OpenFeature with references', referring),
    ],
  };
}

async function compare(
  { truth, others }: Awaited<ReturnType<typeof waysOf>>,
  users: readonly Attributes[],
  findings: string[],
): Promise<Pick<Agreement, 'compared' | 'varied'>> {
  let compared = 0;
  const seen = new Map<string, Set<string>>();
  for (const attributes of users) {
    const expected = await truth.values(attributes);
    for (const [id, value] of expected) seen.set(id, (seen.get(id) ?? new Set()).add(JSON.stringify(value)));
    for (const way of others) {
      const values = await way.values(attributes);
      for (const id of new Set([...expected.keys(), ...values.keys()])) {
        compared++;
        const [wanted, found] = [expected, values].map((all) => JSON.stringify(all.get(id)) ?? 'nothing');
        if (wanted === found || findings.length >= mostFindings) continue;
        findings.push(`${id}: ${found} by ${way.name}, ${wanted} by ${truth.name}, for ${JSON.stringify(attributes)}`);
      }
    }
  }
  return { compared, varied: [...seen.values()].filter(({ size }) => size > 1).length };
}

if (import.meta.main) {
  const [flags = 10_000, users = 20, seed = 1] = process.argv.slice(2).map(Number);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const { compared, varied, findings } = await watchAgreement({ flags, users, seed }, say);
  say(`${compared} values of ${flags} flags for ${users} users were compared, seed ${seed}; ${varied} flags varied.`);
  for (const finding of findings) say(finding);
  process.exitCode = findings.length === 0 ? 0 : 1;
}

import type { AddressInfo } from 'node:net';
import { interfaceVersion, operations } from '@halyard/contract';
import {
  accessRoutes,
  authenticator,
  type FirstAdmin,
  type FirstStart,
  firstStart,
  memberService,
  roleIds,
  roleReferences,
} from './access/index.ts';
import {
  boundedEvaluation,
  changesOnConnectionDeletion,
  connectionReferences,
  connectionService,
  connectionUse,
  Delivery,
  deliveredFeatures,
  deliveryWebhooks,
  PayloadListeners,
  publicRoutes,
} from './delivery/index.ts';
import {
  codeReferenceRoutes,
  codeReferenceService,
  featureGroupReferences,
  featureReferences,
  featureRoutes,
  namespaceUsers,
  ruleKinds,
  scheduledChanges,
  simulationRoutes,
} from './flags/index.ts';
import { createHttp, descriptionRoutes, healthRoutes, listen, pagination, rateLimiter } from './http/index.ts';
import { eventWebhookReferences, eventWebhooks } from './insights/index.ts';
import { operatorServices } from './operator-services.ts';
import {
  customFieldReferences,
  customFieldService,
  entitlements,
  environmentReferences,
  environmentService,
  organizationRoutes,
  projectService,
  type References,
} from './organization/index.ts';
import {
  type Address,
  type Build,
  type Clock,
  compareSecrets,
  type Job,
  type Log,
  migrate,
  type News,
  outgoingRequests,
  persist,
  rateLimit,
  SettingError,
  type Settings,
  secretTexts,
  startJobs,
  WorkQueue,
} from './platform/index.ts';
import { plainKit, resourceKit } from './resources/index.ts';
import { revisionEngine } from './revisions/index.ts';
import { type DatabaseAway, followDatabase, joinDatabase, openStorage } from './storage.ts';
import {
  archetypeReferences,
  archetypeRoutes,
  archetypeService,
  attributeReferences,
  attributeService,
  namespaceRoutes,
  namespaceService,
  savedGroupReferences,
  savedGroupRoutes,
  targetingRoutes,
} from './targeting/index.ts';
import { versionRoute } from './version.ts';

export interface AppOptions {
  readonly settings: Settings;
  /** Where PostgreSQL is. */
  readonly address: Address;
  readonly build: Build;
  readonly clock: Clock;
  readonly log: Log;
}

/** The running service. */
export interface App {
  /** Where it listens, such as `http://127.0.0.1:3100`. */
  readonly url: string;
  /** Whether this was the first start, and whom it made the admin; or that nobody knows, since the database is away. */
  readonly firstStart: FirstStart | DatabaseAway;
  /** Runs what jobs do each minute, now. */
  runJobs(): Promise<void>;
  /** Lets requests end, closes streams and gives everything back. */
  stop(): Promise<void>;
}

/** Starts the service. A start that fails gives back what it had opened. */
export async function startApp(options: AppOptions): Promise<App> {
  const opened = new AsyncDisposableStack();
  try {
    return await joinModules(options, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/**
 * Joins the modules: the only place that knows them all.
 *
 * @param opened what is to be closed at the end, the last one first
 */
async function joinModules(options: AppOptions, opened: AsyncDisposableStack): Promise<App> {
  const { settings, address, build, clock, log } = options;
  if (!roleIds.includes(settings.SECRET_API_KEY_ROLE)) {
    throw new SettingError('SECRET_API_KEY_ROLE', `must be one of ${roleIds.join(', ')}.`);
  }
  const storage = await openStorage(options, opened);
  const { db, live, changes, presence } = storage;
  const { newId, recorder, organizations } = operatorServices({ db, clock, live });
  const paginate = pagination(settings.API_ALLOW_SKIP_PAGINATION);
  const kit = resourceKit({ recorder, paginate });
  const granted = entitlements(settings.ENTITLEMENTS);
  const kinds = ruleKinds([]);
  const revisions = revisionEngine({ db, newId, recorder });
  const members = memberService(db);

  // Who refers to projects and environments: the port of `organization`, filled by everyone above it.
  const references = (): References[] => [
    environmentReferences,
    customFieldReferences,
    roleReferences,
    attributeReferences,
    archetypeReferences(newId),
    savedGroupReferences({ revisions }),
    connectionReferences,
    featureReferences({ revisions, kinds, clock }),
    eventWebhookReferences(newId),
  ];

  const use = connectionUse({ db, clock, log });
  opened.defer(() => use.stop());
  const work = new WorkQueue({ db, clock, log });
  const listeners = new PayloadListeners({ db, live, work, serverWebhooks: settings.WEBHOOKS });
  const delivery = new Delivery({ live, changes, presence, listeners, kinds, clock, log, noteUse: use.note });
  delivery.start();
  opened.defer(() => delivery.stop());
  opened.defer(() => work.stop());

  const limit = rateLimit(settings);
  const limiter = limit === null ? null : rateLimiter(limit, { db, clock, log });
  opened.defer(() => limiter?.stop());
  const publicly = publicRoutes({ source: delivery, settings, clock, log });
  const origin = settings.APP_ORIGIN ?? publicBase(settings).replace(/\/api$/, '');
  const connections = connectionService(kit, {
    newId,
    entitlements: granted,
    hosted: settings.HOSTED,
    changesOnDeletion: (id, by) => changesOnConnectionDeletion(id, by, newId),
  });
  const outgoing = outgoingRequests({ allowPrivate: settings.OUTBOUND_ALLOW_PRIVATE_HOSTS });
  const plain = plainKit({ db, recorder });
  const texts = secretTexts(storage.secrets);
  const telling = { db, clock, log, newId, live, recorder, work, texts, outgoing, kit: plain };
  const archetypes = archetypeService(plain, { newId, entitlements: granted });
  const webhooks = deliveryWebhooks({ ...telling, settings, delivery, listeners, connections });
  const events = eventWebhooks({ ...telling, calls: webhooks.calls });

  const http = createHttp({
    routes: [
      ...organizationRoutes({
        projects: projectService(kit, newId, references),
        environments: environmentService(kit, granted, references),
        customFields: customFieldService(kit, granted),
      }),
      ...accessRoutes(members, paginate),
      ...targetingRoutes(attributeService(kit)),
      ...namespaceRoutes(namespaceService(kit, { newId, paginate, users: [namespaceUsers] })),
      ...archetypeRoutes(archetypes),
      ...simulationRoutes({
        archetypes,
        revisions,
        kinds,
        entitlements: granted,
        paginate,
        bounded: boundedEvaluation(clock),
      }),
      ...savedGroupRoutes({
        revisions,
        recorder,
        entitlements: granted,
        paginate,
        newId,
        references: [featureGroupReferences],
      }),
      ...featureRoutes({
        revisions,
        recorder,
        kinds,
        entitlements: granted,
        paginate,
        clock,
        newId,
        log,
        deliveredFeatures: deliveredFeatures(delivery),
      }),
      ...codeReferenceRoutes(codeReferenceService({ db, recorder, paginate, entitlements: granted })),
      ...webhooks.routes,
      ...events.routes,
      versionRoute(build),
    ],
    openRoutes: [...healthRoutes({ presence }), ...descriptionRoutes(operations, publicBase(settings))],
    index: () => ({ name: 'Halyard', apiVersion: 1, interfaceVersion, build }),
    intercept: publicly,
    authenticator: authenticator({
      db,
      clock,
      log,
      presence,
      live,
      members,
      appOrigin: origin,
      deploymentKey:
        settings.SECRET_API_KEY === undefined || settings.MULTI_ORGANIZATION
          ? null
          : { text: settings.SECRET_API_KEY, role: settings.SECRET_API_KEY_ROLE },
    }),
    rateLimiter: limiter,
    clock,
    newId,
    log,
  });

  const jobs = [scheduledChanges({ live, recorder, clock }), ...webhooks.jobs, events.dispatch, work.job()];
  const takeUpWork = (): void => {
    events.dispatch
      .run()
      .then(() => work.wake())
      .catch((error: unknown) => log.warn({ err: error }, 'Work that is due could not be taken; it is tried again'));
  };
  const { first, joined } = await joinDatabase(
    storage,
    options,
    async () => {
      await migrate(db);
      await compareSecrets(storage.secrets, db);
      const started = await firstStart({ db, clock, newId, organizations }, firstAdmin(settings));
      await live.load();
      await changes.load();
      return started;
    },
    opened,
  );

  opened.defer(() => http.close());
  opened.defer(() => publicly.stop());
  await listen(http, settings);

  const handlers = {
    onNews: (news: News) => (news.topic === 'work' ? takeUpWork() : delivery.hear(news)),
    async onGap() {
      await delivery.closeGap();
      takeUpWork();
    },
  };
  const follow = async (): Promise<void> => {
    const started = await joined;
    followDatabase(storage, options, handlers, opened);
    keepJobs(address, log, jobs, opened);
    await storage.lastKnownGood.begin();
    if (first !== started) log.warn({ firstStart: started }, 'The database is back');
  };
  const followed = follow();
  if (presence.answers) await followed;
  else followed.catch((error: unknown) => log.error({ err: error }, 'The database could not be followed'));

  return {
    url: listeningAt(http.server.address() as AddressInfo),
    firstStart: first,
    async runJobs() {
      for (const job of jobs) await job.run();
      await work.finishDue();
      await use.write();
    },
    stop: () => opened.disposeAsync(),
  };
}

/** Starts the jobs beside everything else: requests need not wait for the queue to make its tables. */
function keepJobs(address: Address, log: Log, jobs: readonly Job[], opened: AsyncDisposableStack): void {
  const stopping = new AbortController();
  const running = persist(
    () => startJobs(address, log, jobs),
    (error) => log.error({ err: error }, 'The job queue could not be started; it is tried again'),
    stopping.signal,
  ).catch(() => null);
  opened.defer(async () => {
    stopping.abort();
    await (await running)?.stop();
  });
}

/** Null: the deployment names nobody. */
function firstAdmin(settings: Settings): FirstAdmin | null {
  const {
    HALYARD_ADMIN_EMAIL: email,
    HALYARD_ADMIN_NAME: name,
    SECRET_API_KEY: key,
    MULTI_ORGANIZATION: several,
  } = settings;
  if (email !== undefined) return { email, name };
  return key === undefined || several ? null : { email: 'admin@localhost', name };
}

/** The public base address of the API. */
const publicBase = ({ API_HOST, HOST, PORT }: Settings): string => API_HOST ?? `http://${inUrl(HOST)}:${PORT}/api`;

const inUrl = (host: string) => (host.includes(':') ? `[${host}]` : host);

const listeningAt = ({ address, port }: AddressInfo): string => `http://${inUrl(address)}:${port}`;

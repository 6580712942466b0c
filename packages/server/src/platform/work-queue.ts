import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Clock } from './clock.ts';
import type { Db, Tx } from './database/connect.ts';
import type { Job } from './jobs.ts';
import type { Log } from './log.ts';
import { announce } from './news.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** Something that is to be done. */
export interface WorkItem<Data> {
  readonly organization: string;
  /** What is asked for again under a key that still waits is done once; while it is being done, once more afterwards. */
  readonly key: string;
  /** Work of one lane is done one after the other in a process, in its order as long as nothing fails, and holds up no other lane. */
  readonly lane: string;
  readonly data: Data;
}

/** How an attempt went. */
export interface Attempt {
  readonly succeeded: boolean;
  /** Rows that tell of it, written together with the outcome. `final`: it is not tried again. */
  record?(tx: Tx, final: boolean): Promise<void>;
}

export interface WorkKind<Data> {
  readonly queue: string;
  /** Milliseconds from each failure to the next attempt; after the last one it is given up. */
  readonly retryAfter: readonly number[];
  attempt(item: WorkItem<Data>): Promise<Attempt>;
}

interface Claimed extends WorkItem<unknown> {
  readonly queue: string;
  readonly attempt: number;
  readonly claim: string;
}

const mostAtOnce = 32;
/** How long a process has a piece of work to itself; kept up for as long as it is at it. */
const lease = 120_000;
const leaseKeptUpEvery = 30_000;
const minute = 60_000;
const longestGoodbye = 5_000;

/**
 * Work that waits in the database: it is added in the transaction of what causes it, taken by one process, and tried again
 * when it fails or its process ends. Every kind of it must be safe to do twice. What is due is asked with our own clock; news
 * and a job wake the processes.
 */
export class WorkQueue {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #kinds = new Map<string, WorkKind<unknown>>();
  /** By claim. */
  readonly #running = new Map<string, { readonly lane: string; readonly done: Promise<void> }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #leases: NodeJS.Timeout;
  readonly #take = oneAtATime(() => this.#takeDue());
  /** How many pieces of work this process has begun. */
  #begun = 0;
  #stopped = false;

  constructor(tools: { db: Db; clock: Clock; log: Log }) {
    this.#db = tools.db;
    this.#clock = tools.clock;
    this.#log = tools.log;
    this.#leases = setInterval(() => void this.#keepLeases(), leaseKeptUpEvery);
    this.#leases.unref();
  }

  /** Takes over work of this kind. The queue's name stands for the shape of the data. */
  serve<Data>(kind: WorkKind<Data>): void {
    this.#kinds.set(kind.queue, kind as WorkKind<unknown>);
  }

  /** Adds work, which is due at once, when the transaction commits. */
  async add<Data>(tx: Tx, queue: string, items: readonly WorkItem<Data>[]): Promise<void> {
    if (items.length === 0) return;
    await tx
      .insertInto('queued_work')
      .values(
        items.map(({ data, ...item }) => ({ queue, ...item, data: JSON.stringify(data), due: this.#clock.now() })),
      )
      .onConflict((on) => on.columns(['queue', 'key']).doUpdateSet({ again: true }))
      .execute();
    await announce(tx, { topic: 'work' });
  }

  /**
   * Adds work as a part of a statement, for those who have no time for a transaction. It returns a row when it did.
   *
   * @param from decides whether, by having a row or none
   */
  addition<Data>(queue: string, { organization, key, lane, data }: WorkItem<Data>, from: RawBuilder<unknown>) {
    return sql`
      insert into queued_work (queue, key, lane, organization, data, due)
      select ${queue}, ${key}, ${lane}, ${organization}, ${JSON.stringify(data)}, ${this.#clock.now()} from ${from}
      on conflict (queue, key) do update set again = true
      returning key`;
  }

  /** Begins with what is due, without waiting for its end. */
  async wake(): Promise<void> {
    while (!this.#stopped && (await this.#take()) > 0);
  }

  /** Does everything that is due. */
  async finishDue(): Promise<void> {
    for (;;) {
      await Promise.all([...this.#running.values()].map(({ done }) => done));
      // What is looked for while something runs may be passed over, since its lane is busy: only a look that met nothing
      // running, before or after, says that all is done.
      const begun = this.#begun;
      const wasIdle = this.#running.size === 0;
      await this.wake();
      if (wasIdle && this.#running.size === 0 && this.#begun === begun) return;
    }
  }

  /** Looks each minute whether something is due: news may have been missed, and processes may have ended. */
  job(): Job {
    return {
      name: 'queued-work',
      run: async () => {
        await this.wake();
        const soon = new Date(this.#clock.now().getTime() + minute);
        const next = await this.#db
          .selectFrom('queued_work')
          .select((eb) => eb.fn.min('due').as('due'))
          .where('claimed_by', 'is', null)
          .executeTakeFirst();
        return next !== undefined && next.due !== null && next.due < soon ? next.due : null;
      },
    };
  }

  /** Lets what is being done end, for some seconds; what takes longer is done again by another process. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    let patience: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all([...this.#running.values()].map(({ done }) => done)),
      new Promise((resolve) => {
        patience = setTimeout(resolve, longestGoodbye);
      }),
    ]);
    clearTimeout(patience);
    clearInterval(this.#leases);
  }

  /** @returns how many were taken */
  async #takeDue(): Promise<number> {
    const free = mostAtOnce - this.#running.size;
    if (free <= 0 || this.#stopped) return 0;
    const claim = randomUUID();
    const now = this.#clock.now();
    const busy = [...this.#running.values()].map(({ lane }) => lane);
    const isDue = sql`w.due <= ${now} and (w.claimed_until is null or w.claimed_until <= ${now})`;
    const { rows } = await sql<Omit<Claimed, 'claim'>>`
      with first_of_lane as (
        select distinct on (w.lane) w.queue, w.key from queued_work w
        where ${isDue} and w.queue = any(${[...this.#kinds.keys()]}) and not (w.lane = any(${busy}))
        order by w.lane, w.due, w.position
      ), taken as (
        select w.queue, w.key from queued_work w join first_of_lane using (queue, key)
        where ${isDue} order by w.due, w.position limit ${free} for update of w skip locked
      )
      update queued_work w set claimed_by = ${claim}, claimed_until = ${new Date(now.getTime() + lease)}, again = false
      from taken where w.queue = taken.queue and w.key = taken.key
      returning w.queue, w.key, w.lane, w.organization, w.data, w.attempt`.execute(this.#db);
    for (const row of rows) this.#start({ ...row, claim });
    return rows.length;
  }

  #start(item: Claimed): void {
    this.#begun++;
    const id = `${item.claim} ${item.queue} ${item.key}`;
    const done = this.#do(item)
      .catch((error: unknown) => {
        const { queue, key } = item;
        this.#log.warn(
          { err: error, queue, work: key },
          'The outcome of work could not be written; it will be done again',
        );
      })
      .finally(() => {
        this.#running.delete(id);
        if (!this.#stopped)
          this.wake().catch((error: unknown) => this.#log.warn({ err: error }, 'Work could not be taken'));
      });
    this.#running.set(id, { lane: item.lane, done });
  }

  async #do(item: Claimed): Promise<void> {
    const { queue, key, claim } = item;
    const kind = this.#kinds.get(queue);
    if (kind === undefined) return;
    const { succeeded, record } = await kind.attempt(item).catch((error: unknown): Attempt => {
      this.#log.error({ err: error, queue, work: key }, 'Work failed unexpectedly');
      return { succeeded: false };
    });
    const delay = succeeded ? undefined : kind.retryAfter[item.attempt];
    const due = new Date(this.#clock.now().getTime() + (delay ?? 0));
    const free = { claimed_by: null, claimed_until: null, due };
    await this.#db.transaction().execute(async (tx) => {
      const mine = await tx
        .selectFrom('queued_work')
        .select('again')
        .where('queue', '=', queue)
        .where('key', '=', key)
        .where('claimed_by', '=', claim)
        .forUpdate()
        .executeTakeFirst();
      // It took longer than it was kept up for, and somebody else has it now.
      if (mine === undefined) return;
      await record?.(tx, delay === undefined);
      if (delay === undefined && !mine.again) {
        await tx.deleteFrom('queued_work').where('queue', '=', queue).where('key', '=', key).execute();
        return;
      }
      const attempt = delay === undefined ? 0 : item.attempt + 1;
      await tx
        .updateTable('queued_work')
        .set({ ...free, attempt })
        .where('queue', '=', queue)
        .where('key', '=', key)
        .execute();
    });
    if (delay !== undefined) this.#wakeIn(delay);
  }

  #wakeIn(delay: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.wake().catch((error: unknown) => this.#log.warn({ err: error }, 'Work could not be taken'));
    }, delay);
    timer.unref();
    this.#timers.add(timer);
  }

  async #keepLeases(): Promise<void> {
    const claims = [...new Set([...this.#running.keys()].map((id) => id.split(' ', 1)[0] ?? ''))];
    if (claims.length === 0) return;
    await this.#db
      .updateTable('queued_work')
      .set({ claimed_until: new Date(this.#clock.now().getTime() + lease) })
      .where('claimed_by', 'in', claims)
      .execute()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'Work could not be kept; it may be done twice'));
  }
}

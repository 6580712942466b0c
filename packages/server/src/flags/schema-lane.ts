import { unavailable } from '../platform/index.ts';
import { FairQueue } from './fair-queue.ts';
import { type SchemaAnswer, type SchemaQuestion, SchemaThread } from './schema-thread.ts';

const idleLimit = 30_000;
const retryAfterSeconds = 5;

interface Waiting {
  readonly question: SchemaQuestion;
  answer(answer: SchemaAnswer | null): void;
}

interface LaneLimits {
  /** Milliseconds for one question. */
  readonly timeLimit: number;
  /** How many questions of one organization may wait. */
  readonly mostWaiting: number;
  /** Those that wait with the same schema as one that took too long count as too slow, too, without being tried. */
  readonly likeLeavesWithLike: boolean;
}

/**
 * Where questions about schemas wait for one thread. Organizations take turns, so that nobody's schemas hold up everybody; the
 * thread is ended when a question takes it longer than the lane allows, and when nobody asks any more.
 */
export class SchemaLane {
  readonly #limits: LaneLimits;
  readonly #queue: FairQueue<Waiting>;
  #thread: SchemaThread | null = null;
  #busy = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
    this.#queue = new FairQueue(limits.mostWaiting);
  }

  /**
   * @returns null when checking takes longer than the lane allows
   * @throws Refusal (unavailable) when too many questions of the organization wait already
   */
  ask(organization: string, question: SchemaQuestion): Promise<SchemaAnswer | null> {
    return new Promise((resolve, reject) => {
      if (this.#queue.add(organization, { question, answer: resolve })) void this.#work();
      else
        reject(
          unavailable(
            'Too many values wait for being checked against a jsonSchema. Nothing was changed; try again in some seconds.',
            retryAfterSeconds,
          ),
        );
    });
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    clearTimeout(this.#idle);
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) await this.#settle(next);
    this.#busy = false;
    this.#idle = setTimeout(() => this.#endThread(), idleLimit);
    this.#idle.unref();
  }

  async #settle({ question, answer }: Waiting): Promise<void> {
    this.#thread ??= new SchemaThread();
    const said = await this.#thread.ask(question, this.#limits.timeLimit);
    if (said === 'failed') {
      this.#endThread();
      answer({ problem: 'checking takes too much memory or fails', reasons: [] });
    } else if (said === 'too slow') {
      this.#endThread();
      answer(null);
      if (!this.#limits.likeLeavesWithLike) return;
      for (const like of this.#queue.takeAll((waiting) => waiting.question.schema === question.schema))
        like.answer(null);
    } else {
      answer(said);
    }
  }

  #endThread(): void {
    this.#thread?.end();
    this.#thread = null;
  }
}

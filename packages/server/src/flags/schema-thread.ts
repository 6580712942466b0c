import { Worker } from 'node:worker_threads';
import type { JsonValue } from '@halyard/evaluation';

/** What a thread is asked, and what it answers. */
export interface SchemaQuestion {
  readonly schema: string;
  readonly values: readonly JsonValue[];
}
export interface SchemaAnswer {
  /** Why the schema cannot be used; null: it can. */
  readonly problem: string | null;
  /** For each value why it does not fit; null: it does. */
  readonly reasons: readonly (string | null)[];
}

/** What the worker says: that it has loaded, then one answer for each question. */
export type Said = 'ready' | SchemaAnswer;
type Heard = Said | 'too slow' | 'failed';

const startLimit = 10_000;

/**
 * A thread that checks values against schemas, one question at a time. A schema is somebody's program: its patterns and
 * references can take any time and much memory. After anything but an answer the thread is of no more use.
 */
export class SchemaThread {
  readonly #worker: Worker;
  readonly #started: Promise<Heard>;
  #hear: (heard: Heard) => void = () => undefined;

  constructor() {
    this.#worker = new Worker(new URL('./schema-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 64, stackSizeMb: 4 },
    });
    this.#worker.unref();
    // For all its life: an error that nobody listens to ends the whole process, also one that comes when nothing is asked.
    this.#worker.on('error', () => this.#hear('failed'));
    this.#worker.on('message', (said: Said) => this.#hear(said));
    this.#started = this.#next(startLimit);
  }

  /** @param timeLimit milliseconds, not counting those in which the thread starts */
  async ask(question: SchemaQuestion, timeLimit: number): Promise<SchemaAnswer | 'too slow' | 'failed'> {
    if ((await this.#started) !== 'ready') return 'failed';
    this.#worker.postMessage(question);
    const heard = await this.#next(timeLimit);
    return heard === 'ready' ? 'failed' : heard;
  }

  end(): void {
    void this.#worker.terminate();
  }

  #next(timeLimit: number): Promise<Heard> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('too slow'), timeLimit);
      this.#hear = (heard) => {
        clearTimeout(timer);
        resolve(heard);
      };
    });
  }
}

import type { BodyOf, Operation, ParamsOf, QueryOf, ResponseOf } from '@halyard/contract';
import type { Written } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';

/** One request to an operation, validated. Routes take it apart: services know nothing of HTTP. */
export interface Call<O extends Operation = Operation> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly requester: Requester;
  /** Says in the answer's headers which configuration version a write made, and gives back its result. */
  landed<Result>(write: Written<Result>): Result;
  /** A header of the request, for the few operations that go by one. */
  requestHeader(name: string): string | undefined;
  /** Adds a header to the answer. */
  header(name: string, value: string): void;
}

export type Handler<O extends Operation> = (call: Call<O>) => Promise<ResponseOf<O> | JsonText>;

/** An answer that is JSON text already, such as a payload from memory. */
export class JsonText {
  readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** An operation of the contract and what answers it. */
export interface Route {
  readonly operation: Operation;
  readonly handler: (call: Call) => Promise<unknown>;
}

/** Binds a handler to its operation. There is no other way to serve one: what the contract does not declare cannot be. */
export function bind<O extends Operation>(operation: O, handler: Handler<O>): Route {
  return { operation, handler: handler as Route['handler'] };
}

import type { BodyOf, Operation, ParamsOf, Permission, QueryOf, ResponseOf } from '@halyard/contract';
import type { ConfigurationVersion } from '../record/index.ts';
import type { PermissionScope, Requester } from './requester.ts';

/** One request to an operation, validated. */
export interface Call<O extends Operation = Operation> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly requester: Requester;
  /** Whether an object is visible that is seen in these projects (null: in all). Asks for `readData`. */
  sees(projects: readonly string[] | null): boolean;
  /** Those of the objects that are visible. */
  visible<Item>(items: readonly Item[], seenIn: (item: Item) => readonly string[] | null): Item[];
  /** @throws Refusal (forbidden) naming the permission that is missing, and where */
  demand(permission: Permission, scope: PermissionScope): void;
  /** Whether a permission is held, where another one would do as well. */
  may(permission: Permission, scope: PermissionScope): boolean;
  /** Says in the answer's headers which configuration version the write made. */
  landed(at: ConfigurationVersion | null): void;
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

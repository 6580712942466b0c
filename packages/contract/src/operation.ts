import type { z } from 'zod';
import type { Permission } from './permissions.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A schema of an object with named fields: path parameters and query strings. */
type NamedFields = z.ZodObject;

/**
 * What a caller needs to be allowed before an operation answers.
 *
 * One permission, or several where the request decides which of them it needs. `anyCredential`: whoever may sign in at all
 * may call it.
 */
export type NeededPermission = Permission | readonly Permission[] | 'anyCredential';

/**
 * One endpoint of the interface, declared once. Types, request validation, form decoding, the interface description, the
 * clients and the tests all come from it.
 */
export interface Operation<
  Params extends NamedFields | undefined = NamedFields | undefined,
  Query extends NamedFields | undefined = NamedFields | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Response extends z.ZodType = z.ZodType,
> {
  /** The operation id, as generated clients know it. */
  readonly id: string;
  readonly method: Method;
  /** Path from the version root, with parameters in braces: `/v1/projects/{id}`. */
  readonly path: string;
  /** Area of the interface; absent on the two operations that belong to none. */
  readonly tag?: string;
  readonly summary: string;
  /** A paragraph for the interface description, in Markdown. */
  readonly description?: string;
  readonly permission: NeededPermission;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Shape of the 200 answer. */
  readonly response: Response;
  /** Statuses beside those that every operation may answer (400, 401, 403, 429). */
  readonly errors: readonly number[];
  readonly deprecated: boolean;
}

type Optional<Key extends string, Value> = { readonly [K in Key]?: Value };

/** Declares an endpoint; what is left out is absent from the request. */
export function operation<
  Response extends z.ZodType,
  Params extends NamedFields | undefined = undefined,
  Query extends NamedFields | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  declaration: Pick<Operation, 'id' | 'method' | 'path' | 'summary' | 'permission'> &
    Optional<'tag' | 'description', string> & { readonly response: Response } & Optional<'params', Params> &
    Optional<'query', Query> &
    Optional<'body', Body> &
    Optional<'errors', readonly number[]> &
    Optional<'deprecated', boolean>,
): Operation<Params, Query, Body, Response> {
  return {
    errors: [],
    deprecated: false,
    ...declaration,
    params: declaration.params as Params,
    query: declaration.query as Query,
    body: declaration.body as Body,
  };
}

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

/** Path parameters as a handler sees them: validated, with defaults filled in. Likewise `QueryOf` and `BodyOf`. */
export type ParamsOf<O extends Operation> = OutputOf<O['params']>;
export type QueryOf<O extends Operation> = OutputOf<O['query']>;
export type BodyOf<O extends Operation> = OutputOf<O['body']>;

/** The body a caller sends: what has a default may be left out. */
export type BodyInputOf<O extends Operation> = InputOf<O['body']>;

/** The 200 answer. */
export type ResponseOf<O extends Operation> = z.output<O['response']>;

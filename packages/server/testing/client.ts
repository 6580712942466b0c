import { type BodyInputOf, type ErrorBody, errorBody, type Operation, type ResponseOf } from '@halyard/contract';

/** What a call brings; which parts there are follows from the operation. */
type Input<O extends Operation> = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: BodyInputOf<O>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A body that the types would not let pass, for requests that are wrong on purpose. */
export type WrongInput = Omit<Input<Operation>, 'body'> & { readonly body?: unknown };

/** An answer with its headers. */
interface Answer<Body> {
  readonly body: Body;
  readonly headers: Headers;
  /** The configuration version that a landing made. */
  readonly version: number;
}

/** Calls operations over HTTP, and holds every answer against what the contract says of it. */
export interface Client {
  readonly url: string;
  /** @throws Error unless the operation answers 200 in its shape */
  call<O extends Operation>(operation: O, input?: Input<O>): Promise<ResponseOf<O>>;
  /** The same, with headers. */
  answer<O extends Operation>(operation: O, input?: Input<O>): Promise<Answer<ResponseOf<O>>>;
  /** @throws Error unless the operation refuses with that status */
  refused(status: number, operation: Operation, input?: WrongInput): Promise<ErrorBody & { headers: Headers }>;
  /** The bare request. */
  request(operation: Operation, input?: WrongInput): Promise<Response>;
}

export function client(url: string, key: string | null): Client {
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };

  const request: Client['request'] = (operation, { params = {}, query = {}, body, headers = {} } = {}) => {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return fetch(`${url}/api${path}${search.size === 0 ? '' : `?${search}`}`, {
      method: operation.method,
      headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };

  const answer: Client['answer'] = async (operation, input = {}) => {
    const response = await request(operation, input as WrongInput);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${operation.id} answered ${response.status}: ${text}`);
    const parsed = operation.response.safeParse(JSON.parse(text));
    if (!parsed.success)
      throw new Error(`The answer of ${operation.id} is not of its shape: ${parsed.error.message}\n${text}`);
    const body = parsed.data as ResponseOf<typeof operation>;
    return { body, headers: response.headers, version: Number(response.headers.get('x-service-config-version')) };
  };

  return {
    url,
    request,
    answer,
    call: async (operation, input) => (await answer(operation, input)).body,
    async refused(status, operation, input) {
      const response = await request(operation, input);
      const text = await response.text();
      if (response.status !== status)
        throw new Error(`${operation.id} answered ${response.status} instead of ${status}: ${text}`);
      return { ...errorBody.parse(JSON.parse(text)), headers: response.headers };
    },
  };
}

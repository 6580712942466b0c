import { isDatabaseAway, Refusal } from '../platform/index.ts';
import { bodyLimit } from './body.ts';

/** An answer that refuses: status, body and headers. */
export interface RefusalAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly message: string };
  readonly headers: Readonly<Record<string, string>>;
  /** Our fault, and worth a look in the log. */
  readonly unexpected: boolean;
}

const answer = (
  status: number,
  body: RefusalAnswer['body'],
  headers: RefusalAnswer['headers'] = {},
  unexpected = false,
): RefusalAnswer => ({ status, body, headers, unexpected });

/** Every error there is, as an answer. The one place where an error gets its status. */
export function refusalAnswer(error: unknown): RefusalAnswer {
  if (error instanceof Refusal) {
    return answer(error.status, { message: error.message, ...error.body }, error.headers);
  }
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return answer(413, { message: `The request body is larger than ${bodyLimit} bytes.` });
  }
  if (code.startsWith('FST_ERR_') && statusCode >= 400 && statusCode < 500) {
    return answer(400, { message: `The request cannot be read: ${(error as Error).message}.` });
  }
  if (isDatabaseAway(error)) {
    return answer(
      503,
      { message: 'The database does not answer at the moment. Nothing was changed; try again in some seconds.' },
      { 'Retry-After': '5' },
      true,
    );
  }
  return answer(500, { message: 'Something went wrong on our side. The request id is in X-Request-Id.' }, {}, true);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { readJson } from '../../http/index.ts';
import { type Log, Refusal } from '../../platform/index.ts';
import { readEvaluationRequest } from './evaluation-request.ts';
import { minVersionOf, reach } from './min-version.ts';
import {
  badMinVersion,
  closeAfter,
  failed,
  notYet,
  openToAll,
  type PublicRoute,
  refuse,
  type SdkRefusal,
  whyUnknown,
  writing,
} from './public-route.ts';
import { remoteEvaluationOf } from './served-evaluation.ts';
import type { PayloadSource } from './source.ts';
import type { TimeBound } from './time-bound.ts';
import { answerUser } from './user-answer.ts';

const path = /^\/api\/eval(?:\/([^/?]*))?\/?(?:\?|$)/;
const streaming = ['x-sse-support', 'enabled'];

const notRemote: SdkRefusal = {
  status: 400,
  error: 'This SDK connection is not set to remote evaluation: its definitions are downloaded.',
};

/** `POST /api/eval/{clientKey}`: what one user gets, without the definitions behind it (flags A28). */
export function evaluationRoute({
  source,
  timeBound,
  log,
}: {
  source: PayloadSource;
  timeBound: TimeBound;
  log: Log;
}): PublicRoute {
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    key: string,
    least: number,
  ): Promise<void> => {
    const asked = readEvaluationRequest(await readJson(request));
    const reached = await reach(source, key, least);
    if (reached === 'unknown') return refuse(response, whyUnknown(key, source));
    if (reached === 'late') return refuse(response, notYet);
    if (reached === 'nothing') return refuse(response, failed);
    const { connection, served } = reached;
    if (!connection.remoteOnly) return refuse(response, notRemote);
    const evaluate = remoteEvaluationOf(served);
    const text = timeBound.whole(connection, () => evaluate(asked));
    answerUser(response, { status: 200, text, more: streaming }, connection, source);
  };

  return openToAll(path, writing, (request, response, key) => {
    const connection = source.use(key);
    const least = minVersionOf(request);
    // Nobody reads the body of a request that is refused whatever it says.
    if (connection === undefined && (least === null || least === 0)) return refuse(response, whyUnknown(key, source));
    if (least === null) return refuse(response, badMinVersion);
    if (connection?.remoteOnly === false && least === 0) return refuse(response, notRemote);
    answer(request, response, key, least).catch((error: unknown) => {
      if (request.errored !== null) return;
      closeAfter(response, error);
      if (error instanceof Refusal) return refuse(response, { status: 400, error: error.message });
      log.error({ err: error, connection: connection?.id }, 'A user could not be evaluated');
      refuse(response, failed);
    });
  });
}

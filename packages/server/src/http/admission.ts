import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, Refusal } from '../platform/index.ts';
import type { Requester } from '../requester/index.ts';
import type { Authenticator } from './authenticator.ts';
import { failureLimiter, type RateLimiter } from './rate-limit.ts';

/**
 * Lets a request in: credential, rate limit, organization, requester, in this order, whatever else is wrong with it. Only a
 * body that cannot be decoded is refused before.
 */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Requester>;

/** @param limiter null: no limit */
export function admission(authenticator: Authenticator, limiter: RateLimiter | null, clock: Clock): Admit {
  const failures = failureLimiter(clock);

  /** A failed attempt counts; past the limit it is told to wait instead of what was wrong. */
  const countFailure = (error: unknown, address: string): unknown => {
    if (!(error instanceof Refusal) || error.kind !== 'unauthenticated') return error;
    const { exceeded, reset } = failures.count(address);
    return exceeded ? tooMany(`Too many failed attempts from this address. Wait ${reset} seconds.`, reset) : error;
  };

  return async (request, reply) => {
    const authentication = await authenticator
      .authenticate({
        authorization: request.headers.authorization,
        organization: request.raw.headersDistinct['x-organization']?.join(','),
        requestedBy: request.raw.headersDistinct['x-service-requested-by'],
      })
      .catch((error: unknown) => {
        throw countFailure(error, request.ip);
      });

    const { id, expiresAt } = authentication.credential;
    if (expiresAt !== null) reply.header('X-Service-Key-Expires-At', expiresAt.toISOString());
    if (limiter !== null) {
      const { limit, remaining, reset, exceeded } = limiter.count(id);
      reply.headers({ 'RateLimit-Limit': limit, 'RateLimit-Remaining': remaining, 'RateLimit-Reset': reset });
      if (exceeded)
        throw tooMany(`More than ${limit} requests in a minute with this key. Wait ${reset} seconds.`, reset);
    }
    return authentication.admit();
  };
}

const tooMany = (message: string, seconds: number) =>
  new Refusal('tooMany', message, { headers: { 'Retry-After': String(seconds) } });

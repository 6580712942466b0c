/** Serving operations: who asks, how often, in what shape; and every refusal in one form. Declares the ports `Authenticator` and `Interceptor`. */

export type { Authenticator, Credentials } from './authenticator.ts';
export { readJson } from './body.ts';
export { allowAnyOrigin, answerPreflight, anyOrigin } from './cors.ts';
export { listen } from './listen.ts';
export { descriptionRoutes, healthRoutes } from './open-routes.ts';
export { type Page, type PageQuery, type Paginate, pagination } from './page.ts';
export { rateLimiter } from './rate-limit.ts';
export { bind, type Call, JsonText, type Route } from './route.ts';
export { createHttp, type Interceptor } from './serve.ts';
export { checkBody } from './shape.ts';

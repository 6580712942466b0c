import { z } from 'zod';
import { errorBody } from './errors.ts';
import type { Operation } from './operation.ts';
import { type SdkRoute, sdkRoutes } from './sdk-routes.ts';

type Json = null | boolean | number | string | Json[] | JsonObject;
type JsonObject = { [key: string]: Json };

/** An interface description, OpenAPI 3.1. */
export interface OpenApiDocument {
  openapi: string;
  info: JsonObject;
  servers: Json;
  security: Json;
  tags: Json;
  paths: { [path: string]: JsonObject };
  components: { securitySchemes: JsonObject; responses: JsonObject; schemas: JsonObject };
}

/** Version of the interface, not of the build. */
export const interfaceVersion = '5.0.0';

/**
 * The interface description of the given operations, and of the public routes of SDKs.
 *
 * @param operations what is served
 * @param baseUrl public base address of the API
 * @throws Error where two different schemas go by one name
 */
export function openApiDocument(operations: readonly Operation[], baseUrl: string): OpenApiDocument {
  const schemas: JsonObject = {};
  const describe = (schema: z.ZodType, io: 'input' | 'output'): Json => hoist(jsonSchema(schema, io), schemas);

  const errorSchema = describe(errorBody, 'output');
  const paths: OpenApiDocument['paths'] = {};
  for (const op of operations) {
    const path = (paths[op.path] ??= {});
    path[op.method.toLowerCase()] = describeOperation(op, describe);
  }
  // Their paths are those of the host, whatever the base address of the API.
  const host = baseUrl.replace(/\/api\/?$/, '');
  for (const route of sdkRoutes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = describeSdkRoute(route, host, describe);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Halyard',
      version: interfaceVersion,
      description: 'Feature flags, experiments and configuration that teams host themselves.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ bearerAuth: [] }, { basicAuth: [] }],
    tags: [...new Set([...operations.flatMap((op) => op.tag ?? []), sdkTag])].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'A secret key or personal access token.' },
        clientKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The key of an SDK connection.' },
        clientKeyBearer: { type: 'http', scheme: 'bearer', description: 'The key of an SDK connection.' },
        basicAuth: { type: 'http', scheme: 'basic', description: 'The secret key as user name, an empty password.' },
      },
      responses: {
        Error: { description: 'Refused: `message` says why', content: { 'application/json': { schema: errorSchema } } },
      },
      schemas,
    },
  };
}

function describeOperation(op: Operation, describe: (schema: z.ZodType, io: 'input' | 'output') => Json): JsonObject {
  const parameters = [...parametersIn('path', op.params, describe), ...parametersIn('query', op.query, describe)];
  const error = { $ref: '#/components/responses/Error' };
  return {
    operationId: op.id,
    ...(op.tag === undefined ? {} : { tags: [op.tag] }),
    summary: op.summary,
    ...(op.description === undefined ? {} : { description: op.description }),
    ...(op.deprecated ? { deprecated: true } : {}),
    'x-permission': typeof op.permission === 'string' ? op.permission : [...op.permission],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(op.body === undefined
      ? {}
      : { requestBody: { required: true, content: bodyContent(describe(op.body, 'input')) } }),
    responses: {
      '200': { description: 'Done', content: { 'application/json': { schema: describe(op.response, 'output') } } },
      ...Object.fromEntries(op.errors.map((status) => [String(status), error])),
      default: error,
    },
  };
}

const sdkTag = 'sdk';

function describeSdkRoute(
  route: SdkRoute,
  host: string,
  describe: (schema: z.ZodType, io: 'input' | 'output') => Json,
): JsonObject {
  const { id, path, summary, description, body, response, refusal } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  return {
    operationId: id,
    tags: [sdkTag],
    summary,
    description,
    servers: [{ url: host }],
    security: names.includes('clientKey') ? [] : [{ clientKey: [] }, { clientKeyBearer: [] }],
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...(body === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: describe(body, 'input') } } } }),
    responses: {
      '200': { description: 'Done', content: { [response.type]: { schema: describe(response.schema, 'output') } } },
      default: {
        description: 'Refused: the text says why',
        content: { 'application/json': { schema: describe(refusal, 'output') } },
      },
    },
  };
}

const bodyContent = (schema: Json): JsonObject => ({
  'application/json': { schema },
  'application/x-www-form-urlencoded': { schema },
});

function parametersIn(
  place: 'path' | 'query',
  fields: z.ZodObject | undefined,
  describe: (schema: z.ZodType, io: 'input') => Json,
): JsonObject[] {
  return Object.entries(fields?.shape ?? {}).map(([name, field]) => {
    const schema = describe(field as z.ZodType, 'input') as JsonObject;
    const { deprecated, ...rest } = schema;
    const required = !(field as z.ZodType).safeParse(undefined).success;
    return {
      name,
      in: place,
      ...(required ? { required } : {}),
      ...(deprecated === true ? { deprecated } : {}),
      schema: rest,
    };
  });
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // What `format` or plain `integer` already says is left out: readers of the description want the meaning.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.pattern === undefined) delete jsonSchema.pattern;
    },
  });
  return described as JsonObject;
}

/** Moves the named schemas of `$defs` to the document's components and points the references there. */
function hoist(schema: JsonObject, components: JsonObject): Json {
  const { $defs = {}, ...rest } = schema;
  for (const [name, definition] of Object.entries($defs as JsonObject)) {
    const pointed = repoint(definition);
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(pointed)) {
      throw new Error(`Two different schemas are called ${name}: give the second a name of its own.`);
    }
    components[name] = pointed;
  }
  return repoint(rest);
}

function repoint(node: Json): Json {
  if (Array.isArray(node)) return node.map(repoint);
  if (node === null || typeof node !== 'object') return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' ? String(value).replace('#/$defs/', '#/components/schemas/') : repoint(value),
    ]),
  );
}

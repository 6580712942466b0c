import { openApiDocument, operations } from '@halyard/contract';

/** Prints the interface description, and nothing else. */
process.stdout.write(`${JSON.stringify(openApiDocument(operations, 'http://127.0.0.1:3100/api'), null, 2)}\n`);

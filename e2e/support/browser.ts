import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import bundled from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Nothing that calls home; the sandbox of Chromium refuses to run as root, as tests in containers do. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** A headless Chromium: the one that `HALYARD_CHROMIUM` names, else the one that is installed with the tests. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.HALYARD_CHROMIUM || (await bundled.executablePath());
  return chromium.launch({ executablePath, args: flags, headless: true });
}

/** The browser build of the published JavaScript SDK. */
const sdkBundle = readFileSync(
  createRequire(import.meta.url)
    .resolve('@growthbook/growthbook')
    .replace(/dist\/.*$/, 'dist/bundles/index.min.js'),
  'utf8',
);

/** A site of an origin of its own, whose page has loaded the SDK. */
export interface Site {
  readonly url: string;
  open(browser: Browser): Promise<Page>;
  stop(): void;
}

export async function startSite(): Promise<Site> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/sdk.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? sdkBundle : '<!doctype html><title>Shop</title><script src="/sdk.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async open(browser) {
      // A context of its own: nothing is cached from another test.
      const page = await (await browser.newContext()).newPage();
      await page.goto(url);
      return page;
    },
    stop: () => server.close(),
  };
}

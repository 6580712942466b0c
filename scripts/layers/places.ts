/** What the packages may import of ours. Dependencies point downwards only. */
export const PACKAGES: Record<string, string[]> = {
  contract: [],
  evaluation: [],
  statistics: [],
  warehouse: [],
  web: ['contract'],
  server: ['contract', 'evaluation', 'statistics', 'warehouse'],
};

/** The modules of the server from the ground up; each may import those before it. */
export const MODULES = [
  'platform',
  'record',
  'requester',
  'http',
  'resources',
  'organization',
  'access',
  'revisions',
  'targeting',
  'configuration',
  'flags',
  'delivery',
  'hooks',
  'catalog',
  'experiments',
  'rollouts',
  'insights',
];

/** Folders of the server that are no module: like `app.ts` they stand above the modules and join them. */
export const JOINING_FOLDERS = ['commands'];

/** Where a file stands in the house. */
export interface Place {
  /** Undefined for what works on the packages from outside: `e2e`, `bench`, `scripts` and the files at the top. */
  readonly package?: string;
  /** The folder at the top, outside of the packages. */
  readonly folder?: string;
  readonly use: 'production' | 'test' | 'testing';
  /** The module of the server. Undefined for what joins the modules (`app.ts`, `commands/`), and in other packages. */
  readonly module?: string;
  /** Whether this is the file by which others import the module or, in other packages than the server, the package. */
  readonly isFace: boolean;
}

/** @param path from the top of the repository */
export function placeOf(path: string): Place {
  const [top, name, part, folder, ...rest] = path.split('/');
  const isTest = /\.test\.[cm]?[jt]sx?$/.test(path);
  if (top !== 'packages' || name === undefined) {
    return { use: isTest ? 'test' : 'production', isFace: false, ...(name === undefined ? {} : { folder: top }) };
  }
  const use = part === 'testing' ? 'testing' : isTest ? 'test' : 'production';
  // A folder of `testing` that is named after a module belongs to it.
  const isOfModule = name === 'server' && folder !== undefined && rest.length > 0 && !JOINING_FOLDERS.includes(folder);
  if (!isOfModule || (part === 'testing' && !MODULES.includes(folder))) {
    return { package: name, use, isFace: name !== 'server' && path === `packages/${name}/src/index.ts` };
  }
  return { package: name, use, module: folder, isFace: part === 'src' && rest.join('/') === 'index.ts' };
}

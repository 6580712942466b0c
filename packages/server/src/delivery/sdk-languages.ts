import { paddedVersion } from '@halyard/evaluation';
import type { Capability } from '../flags/index.ts';

/** An SDK: the versions there are, and from which on it understands what. */
export interface SdkLanguage {
  /** What a connection of old has that was made before versions were stored. */
  readonly standard: string;
  /** Newest first. */
  readonly versions: readonly string[];
  /** The first version with each capability. */
  readonly since: ReadonlyMap<Capability, string>;
}

type Since = Readonly<Record<string, readonly Capability[]>>;

/** @param listed newest first; `a…b` stands for every patch number from a down to b */
function language(standard: string, listed: string, since: Since): SdkLanguage {
  const versions = listed.split(' ').flatMap(expand);
  const firsts = Object.entries(since).flatMap(([version, capabilities]) =>
    capabilities.map((capability) => [capability, version] as const),
  );
  return { standard, versions, since: new Map(firsts) };
}

function expand(listed: string): string[] {
  const [newest = '', oldest] = listed.split('…');
  if (oldest === undefined) return [newest];
  const stem = newest.slice(0, newest.lastIndexOf('.') + 1);
  const numberOf = (version: string) => Number(version.slice(version.lastIndexOf('.') + 1));
  const count = numberOf(newest) - numberOf(oldest) + 1;
  return Array.from({ length: count }, (_, index) => `${stem}${numberOf(newest) - index}`);
}

const loose = ['looseUnmarshalling', 'namespacesV2'] as const;
const caseInsensitive = ['caseInsensitiveRegex', 'caseInsensitiveMembership'] as const;
const browserOnly = new Set<Capability>(['visualEditor', 'visualEditorJS', 'visualEditorDragDrop', 'remoteEval']);

const without = (since: Since, left: ReadonlySet<Capability>): Since =>
  Object.fromEntries(Object.entries(since).map(([version, list]) => [version, list.filter((one) => !left.has(one))]));

const javascriptVersions =
  '1.8.0 1.7.0 1.6.5…1.6.0 1.5.1 1.5.0 1.4.1 1.4.0 1.3.1 1.3.0 1.2.1 1.2.0 1.1.0 1.0.1 1.0.0 0.36.0 0.35.0 0.34.0 0.33.0 0.32.0 ' +
  '0.31.0 0.30.0 0.29.0 0.28.0 0.27.0 0.26.0 0.25.0 0.24.0 0.23.0 0.22.0 0.21.2…0.21.0 0.20.1 0.20.0 0.19.1 0.19.0 0.18.1 0.18.0 ' +
  '0.17.1 0.17.0 0.16.2…0.16.0 0.15.1 0.15.0 0.14.0 0.13.0 0.12.0 0.11.0 0.10.0 0.9.3…0.9.0 0.8.0 0.7.1 0.7.0 0.6.1 0.5.1 0.5.0 ' +
  '0.4.1 0.4.0 0.3.0 0.2.0 0.1.3…0.1.0 0.0.0';

const javascriptSince: Since = {
  '0.0.0': loose,
  '0.20.0': ['encryption'],
  '0.21.0': ['streaming'],
  '0.23.0': ['bucketingV2'],
  '0.24.0': ['visualEditor'],
  '0.27.0': ['semverTargeting', 'visualEditorJS'],
  '0.29.0': ['remoteEval'],
  '0.30.0': ['visualEditorDragDrop'],
  '0.32.0': ['stickyBucketing'],
  '0.34.0': ['prerequisites'],
  '0.36.0': ['redirects'],
  '1.1.0': ['savedGroupReferences'],
  '1.4.0': ['trackingPlugin'],
  '1.6.3': ['caseInsensitiveRegex'],
  '1.6.4': ['caseInsensitiveMembership'],
  '1.7.0': ['contextualBandits'],
};

/** What the edge workers understand from their first capable version on. */
const edgeCapabilities: readonly Capability[] = [
  ...loose,
  'encryption',
  'streaming',
  'bucketingV2',
  'visualEditor',
  'semverTargeting',
  'visualEditorJS',
  'visualEditorDragDrop',
  'stickyBucketing',
  'prerequisites',
  'redirects',
];

const edge = (standard: string, listed: string, first: string, references: string, insensitive: string): SdkLanguage =>
  language(standard, listed, {
    [first]: edgeCapabilities,
    [references]: ['savedGroupReferences'],
    [insensitive]: caseInsensitive,
  });

const noCode = language('0.0.0', '0.0.0', {
  '0.0.0': [...edgeCapabilities, 'remoteEval', 'savedGroupReferences', ...caseInsensitive, 'contextualBandits'],
});

const other = language('0.0.0', '0.0.0', { '0.0.0': loose });

/** Every language that a connection may name. */
export const sdkLanguages: ReadonlyMap<string, SdkLanguage> = new Map(
  Object.entries({
    'nocode-webflow': noCode,
    'nocode-wordpress': noCode,
    'nocode-shopify': noCode,
    'nocode-other': noCode,
    javascript: language('0.31.0', javascriptVersions, javascriptSince),
    nodejs: language('0.31.0', javascriptVersions, without(javascriptSince, browserOnly)),
    nextjs: language('1.0.0', '0.1.0', {
      '0.1.0': [
        ...loose,
        'encryption',
        'bucketingV2',
        'semverTargeting',
        'prerequisites',
        'stickyBucketing',
        'redirects',
        'savedGroupReferences',
      ],
    }),
    react: language(
      '0.21.0',
      '1.8.0 1.7.0 1.6.5…1.6.0 1.5.1 1.5.0 1.4.1 1.4.0 1.3.1 1.3.0 1.2.1 1.2.0 1.1.0 1.0.1 1.0.0 0.26.0 0.25.0 0.24.0 0.23.0 0.22.0 ' +
        '0.21.0 0.20.0 0.19.0 0.18.0 0.17.0 0.16.0 0.15.0 0.14.0 0.13.0 0.12.0 0.11.2…0.11.0 0.10.1 0.10.0 0.9.1 0.9.0 0.8.1 0.8.0 ' +
        '0.7.0 0.6.0 0.5.1 0.5.0 0.4.0 0.3.0 0.2.7…0.2.0 0.0.0',
      {
        '0.0.0': loose,
        '0.10.1': ['encryption'],
        '0.11.0': ['streaming'],
        '0.13.0': ['bucketingV2'],
        '0.14.0': ['visualEditor'],
        '0.17.0': ['semverTargeting', 'visualEditorJS'],
        '0.19.0': ['remoteEval'],
        '0.20.0': ['visualEditorDragDrop'],
        '0.22.0': ['stickyBucketing'],
        '0.24.0': ['prerequisites'],
        '0.26.0': ['redirects'],
        '1.1.0': ['savedGroupReferences'],
        '1.4.0': ['trackingPlugin'],
        '1.6.3': ['caseInsensitiveRegex'],
        '1.6.4': ['caseInsensitiveMembership'],
        '1.7.0': ['contextualBandits'],
      },
    ),
    php: language(
      '1.2.0',
      '2.6.1 2.6.0 2.5.0 2.4.0 2.3.0 2.2.0 2.1.0 2.0.0 1.7.4…1.7.0 1.6.0 1.5.0 1.4.0 1.3.0 1.2.0 1.1.0 1.0.1 1.0.0 0.3.0 0.2.0 0.1.0',
      {
        '1.0.0': loose,
        '1.2.0': ['bucketingV2', 'encryption'],
        '1.5.0': ['semverTargeting'],
        '1.6.0': ['prerequisites', 'stickyBucketing'],
        '1.7.0': ['savedGroupReferences'],
        '2.3.0': caseInsensitive,
        '2.4.0': ['trackingPlugin'],
        '2.5.0': ['remoteEval'],
      },
    ),
    ruby: language('1.2.2', '1.3.0 1.2.2…1.2.0 1.1.1 1.1.0 1.0.0 0.3.0 0.2.0 0.1.0 0.0.1 0.0.0', {
      '0.0.0': loose,
      '1.0.0': ['bucketingV2'],
      '1.1.0': ['encryption'],
      '1.2.2': ['semverTargeting'],
      '1.3.0': ['prerequisites', 'stickyBucketing'],
    }),
    python: language(
      '1.0.0',
      '2.4.0 2.3.1 2.3.0 2.2.2…2.2.0 2.1.5…2.1.0 2.0.0 1.4.10…1.4.0 1.3.1 1.3.0 1.2.1 1.1.0 1.0.0 0.3.1 0.3.0 0.2.0 0.1.1 0.1.0',
      {
        '1.0.0': ['bucketingV2', 'encryption'],
        '1.1.0': [...loose, 'prerequisites', 'stickyBucketing', 'semverTargeting'],
        '1.2.1': ['savedGroupReferences'],
        '2.1.0': ['caseInsensitiveRegex'],
        '2.1.1': ['caseInsensitiveMembership'],
        '2.2.0': ['trackingPlugin'],
        '2.3.0': ['remoteEval'],
      },
    ),
    go: language('0.1.4', '0.2.9…0.2.0 0.1.9…0.1.0 0.0.0', {
      '0.0.0': loose,
      '0.1.4': ['bucketingV2', 'streaming', 'semverTargeting', 'encryption'],
      '0.2.0': ['prerequisites', 'savedGroupReferences'],
      '0.2.3': ['stickyBucketing'],
      '0.2.7': caseInsensitive,
      '0.2.8': ['trackingPlugin'],
    }),
    java: language(
      '0.9.0',
      '0.10.10…0.10.0 0.9.96…0.9.91 0.9.9…0.9.0 0.8.1 0.8.0 0.7.1 0.7.0 0.6.0 0.5.0 0.4.0 0.3.0 0.2.2 0.2.1 0.1.1 0.1.0 0.0.2…0.0.0',
      {
        '0.0.0': loose,
        '0.3.0': ['encryption'],
        '0.6.0': ['bucketingV2'],
        '0.7.0': ['semverTargeting'],
        '0.9.0': ['streaming'],
        '0.9.3': ['prerequisites', 'stickyBucketing'],
        '0.9.92': ['remoteEval'],
        '0.10.6': ['caseInsensitiveRegex'],
        '0.10.9': ['caseInsensitiveMembership'],
      },
    ),
    csharp: language('0.2.0', '1.2.0 1.1.4…1.1.0 1.0.6…1.0.2 1.0.0 0.2.0 0.1.2 0.0.7…0.0.0', {
      '0.0.0': loose,
      '1.0.0': ['encryption', 'streaming', 'bucketingV2', 'semverTargeting'],
      '1.1.0': ['stickyBucketing', 'prerequisites', 'savedGroupReferences'],
      '1.1.3': ['remoteEval'],
      '1.2.0': caseInsensitive,
    }),
    android: language(
      '1.1.43',
      '7.6.0 7.5.0 7.4.0 7.3.0 7.2.0 7.1.1 7.1.0 7.0.0 6.1.5 6.1.4 6.1.1 6.1.0 6.0.0 5.0.1 5.0.0 3.1.0 2.0.0 1.1.64…1.1.53 1.1.51 ' +
        '1.1.50 1.1.48…1.1.46 1.1.44…1.1.40 1.1.38 1.1.36…1.1.22 1.1.18…1.1.16 1.1.14 1.1.13 1.1.9…1.1.3 1.1.0 0.0.0',
      {
        '0.0.0': loose,
        '1.1.23': ['encryption'],
        '1.1.31': ['semverTargeting'],
        '1.1.38': ['bucketingV2'],
        '1.1.44': ['prerequisites', 'stickyBucketing'],
        '1.1.50': ['remoteEval', 'streaming'],
        '7.1.1': caseInsensitive,
      },
    ),
    ios: language('1.0.44', '1.2.0 1.1.15 1.1.14 1.1.12…1.1.0 1.0.101…1.0.34 1.0.32…1.0.18 1.0.16…1.0.0 0.1.0 0.0.0', {
      '0.0.0': ['looseUnmarshalling'],
      '1.0.35': ['encryption'],
      '1.0.38': ['semverTargeting'],
      '1.0.43': ['bucketingV2', 'streaming'],
      '1.0.49': ['stickyBucketing', 'prerequisites'],
      '1.0.50': ['remoteEval'],
      '1.1.1': caseInsensitive,
      '1.1.4': ['namespacesV2'],
    }),
    flutter: language(
      '1.1.2',
      '4.4.0 4.3.0 4.2.5…4.2.1 4.1.1 4.1.0 4.0.0 3.9.14 3.9.12…3.9.0 3.8.0 3.7.0 3.6.0 3.5.0 3.4.0 3.3.0 3.2.0 3.1.0 3.0.0 2.1.0 ' +
        '2.0.1 2.0.0 1.2.0 1.1.2…1.1.0 1.0.0 0.0.0',
      {
        '0.0.0': loose,
        '3.1.0': ['encryption', 'bucketingV2', 'semverTargeting'],
        '3.2.0': ['prerequisites'],
        '3.4.0': ['streaming'],
        '3.7.0': ['remoteEval'],
        '3.8.0': ['stickyBucketing'],
        '3.9.4': ['savedGroupReferences'],
        '4.3.0': caseInsensitive,
        '4.4.0': ['trackingPlugin'],
      },
    ),
    elixir: language('0.2.0', '0.3.0 0.2.0 0.1.1 0.1.0', {
      '0.2.0': [...loose, 'bucketingV2', 'semverTargeting', 'prerequisites'],
      '0.3.0': ['encryption'],
    }),
    'edge-cloudflare': edge('0.1.10', '0.2.9…0.2.4 0.2.2…0.2.0 0.1.15…0.1.0', '0.1.11', '0.1.12', '0.2.7'),
    'edge-fastly': edge('0.1.4', '0.2.9…0.2.0 0.1.8…0.1.0', '0.1.5', '0.1.6', '0.2.7'),
    'edge-lambda': edge('0.0.5', '0.0.29…0.0.24 0.0.22…0.0.20 0.0.10…0.0.1', '0.0.6', '0.0.7', '0.0.27'),
    'edge-other': edge('0.1.3', '0.2.9…0.2.4 0.2.2…0.2.0 0.1.7…0.1.0 0.0.7…0.0.1', '0.1.4', '0.1.5', '0.2.7'),
    rust: language('0.0.4', '0.2.1 0.2.0 0.1.1 0.1.0 0.0.4…0.0.1', {
      '0.0.1': [...loose, 'encryption', 'prerequisites', 'semverTargeting', 'bucketingV2'],
      '0.1.0': ['stickyBucketing'],
      '0.1.1': caseInsensitive,
      '0.2.0': ['savedGroupReferences'],
    }),
    roku: language('1.3.1', '1.4.1 1.3.1 1.3.0', {
      '1.3.0': [...loose, 'bucketingV2', 'semverTargeting', 'prerequisites'],
      '1.4.1': ['encryption', 'stickyBucketing'],
    }),
    other,
  }),
);

/** The newest version of a language, which a new connection gets unless it names one. */
export const latestVersion = (name: string): string => sdkLanguages.get(name)?.versions[0] ?? '0.0.0';

const atVersion = ({ since }: SdkLanguage, version: string): Set<Capability> => {
  const reached = paddedVersion(version);
  return new Set([...since].filter(([, first]) => paddedVersion(first) <= reached).map(([capability]) => capability));
};

/**
 * What the SDKs of a connection understand: of one language, at its version; of several, what all have in common at their
 * standard versions. An unknown language counts as `other`.
 */
export function capabilitiesOf(languages: readonly string[], sdkVersion: string | undefined): ReadonlySet<Capability> {
  const known = languages.map((name) => sdkLanguages.get(name) ?? other);
  const [only = other] = known;
  if (known.length <= 1) return atVersion(only, sdkVersion ?? only.standard);
  const sets = known.map((one) => {
    const held = atVersion(one, one.standard);
    // Who ignores unknown keys is not hurt by those of newer bucketing.
    return held.has('looseUnmarshalling') ? held.add('bucketingV2') : held;
  });
  const [first = new Set<Capability>(), ...rest] = sets;
  return new Set([...first].filter((capability) => rest.every((held) => held.has(capability))));
}

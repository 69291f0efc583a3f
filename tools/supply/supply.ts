import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The checkout, from the compiled module. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What npm printed. It says by more than its exit code what came of it, so none is thrown. */
export const npm = (args: readonly string[]): Promise<{ readonly out: string; readonly err: string }> =>
  new Promise((resolve) => {
    execFile('npm', [...args], { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX }, (_, out, err) =>
      resolve({ out, err }),
    );
  });

/** What `npm audit --json` came to. */
type AuditResult =
  | { readonly kind: 'clean' }
  | { readonly kind: 'found'; readonly lines: readonly string[] }
  /** The registry has no such endpoint, or cannot be reached: nothing is known. */
  | { readonly kind: 'unknown'; readonly reason: string };

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  readonly range: string;
  /** Where it is installed, as the lock file says it. */
  readonly nodes?: readonly string[];
}

interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly message?: string;
}

const GRAVE = new Set(['high', 'critical']);

const reportIn = (out: string): Report | undefined => {
  try {
    return JSON.parse(out) as Report;
  } catch {
    return undefined;
  }
};

/**
 * Reads npm's report. Only a report that says so is clean: silence is not. What stands only where `isShipped` says no
 * is passed over.
 */
export const auditResult = (out: string, isShipped: (node: string) => boolean = () => true): AuditResult => {
  const report = reportIn(out);
  if (report?.auditReportVersion === undefined || report.vulnerabilities === undefined)
    return { kind: 'unknown', reason: report?.message ?? 'npm audit gave no report' };
  const lines = Object.values(report.vulnerabilities)
    .filter(({ severity, nodes }) => GRAVE.has(severity) && (nodes ?? ['']).some(isShipped))
    .map(({ name, severity, range }) => `${severity}: ${name} ${range}`);
  return lines.length === 0 ? { kind: 'clean' } : { kind: 'found', lines };
};

type License =
  | { readonly license: { readonly id?: string; readonly name?: string } }
  | { readonly expression: string };

export interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly License[];
  readonly 'bom-ref'?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/** The members of a CycloneDX document that are read here. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly components: readonly Component[];
  readonly [member: string]: unknown;
}

interface Made extends Sbom {
  readonly serialNumber?: string;
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly metadata: { readonly timestamp?: string; readonly component: { readonly purl: string } };
}

/** The name is that of the folder in npm's; the package's own stands in its URL. */
const ownName = (purl: string): string => /^pkg:npm\/(.+)@[^@]+$/.exec(purl)?.[1] ?? purl;

/** Without what differs from one run to the next: the same lock file gives the same bytes. */
const reproducible = ({ serialNumber: _, metadata, ...rest }: Made): Sbom => {
  const { timestamp: _at, component, ...others } = metadata;
  return { ...rest, metadata: { ...others, component: { ...component, name: ownName(component.purl) } } };
};

/** Packages of data that only the build needs: it copies into `dist/` what the service then serves and reads. */
const isInDist = (name: string): boolean =>
  /^(?:pdfjs-dist|swagger-ui-dist|@tesseract\.js-data\/.+)$/.test(name);

/** Packages of code that are bundled into `dist/` and needed by nothing else, with all that they depend on. */
const BUNDLED: ReadonlySet<string> = new Set(['pdfkit', 'stripe']);

const refOf = (component: Component): string => component['bom-ref'] ?? '';

const bundledIn = ({ components, dependencies }: Made): ReadonlySet<string> => {
  const needs = new Map(dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const found = new Set(components.filter(({ name }) => BUNDLED.has(name)).map(refOf));
  // A set that grows while it is walked is walked to its new end.
  for (const ref of found) for (const other of needs.get(ref) ?? []) found.add(other);
  return found;
};

const isForDevelopment = ({ name, properties = [] }: Component): boolean =>
  !isInDist(name) && properties.some((one) => one.name === 'cdx:npm:package:development');

/** npm's own `--omit dev` leaves out what production shares with development. */
const ofProduction = (made: Made): Made => {
  const { components, dependencies, ...rest } = made;
  const bundled = bundledIn(made);
  const dropped = components.filter((one) => isForDevelopment(one) && !bundled.has(refOf(one)));
  const left = new Set(dropped.map(refOf));
  return {
    ...rest,
    components: components.filter((component) => !left.has(refOf(component))),
    dependencies: dependencies
      .filter(({ ref }) => !left.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => !left.has(one)) })),
  };
};

/** What production depends on, from the lock file, as CycloneDX. Throws with npm's words when it cannot. */
export const productionSbom = async (): Promise<Sbom> => {
  const { out, err } = await npm(['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']);
  if (!out.trimStart().startsWith('{')) throw new Error(`npm sbom failed: ${err}`);
  return reproducible(ofProduction(JSON.parse(out) as Made));
};

/** Packages that name their licence in a member of old, which npm does not read, or in a file alone. */
const NAMED_OF_OLD: ReadonlyMap<string, string> = new Map([
  ['busboy', 'MIT'],
  ['png-js', 'MIT'],
  ['streamsearch', 'MIT'],
]);

/** The licence of a component as an SPDX expression; undefined when it names none. */
export const licenseOf = ({ name, licenses = [] }: Component): string | undefined => {
  const names = licenses.flatMap((one) =>
    'expression' in one ? [one.expression] : [one.license.id ?? one.license.name ?? ''],
  );
  if (names.length === 0) return NAMED_OF_OLD.get(name);
  return names.includes('') ? undefined : names.join(' AND ');
};

const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** Linked at run time and replaceable, as the LGPL asks: the image library and its builds per platform. */
const LGPL_ALLOWED = /^@img\/sharp-/;

/** A choice of licences will do by any, a sum of them by all. */
const isAllowed = (expression: string, name: string): boolean => {
  const bare = expression.replace(/^\((.*)\)$/, '$1');
  if (bare.includes(' OR ')) return bare.split(' OR ').some((one) => isAllowed(one.trim(), name));
  return bare
    .split(' AND ')
    .map((one) => one.trim())
    .every((id) => PERMISSIVE.has(id) || (id === 'LGPL-3.0-or-later' && LGPL_ALLOWED.test(name)));
};

/** Components whose licence is missing or not one that may be shipped, with what they say. */
export const licenseBreaches = ({ components }: Pick<Sbom, 'components'>): readonly string[] =>
  components.flatMap((component) => {
    const license = licenseOf(component);
    if (license !== undefined && isAllowed(license, component.name)) return [];
    return [`${component.name}@${component.version}: ${license ?? 'no licence'}`];
  });

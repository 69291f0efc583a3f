/** What `npm audit --json` came to. */
export type AuditResult =
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

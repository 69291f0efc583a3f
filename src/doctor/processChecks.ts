import { ok, problem, warning, type Check, type Verdict } from './check.ts';

const SECOND_MS = 1_000;
/** The oldest Node that the service runs on: `engines` of package.json. */
const NODE_OLDEST = [20, 19] as const;
/** Sockets and files that a busy API has open at once. */
const OPEN_FILES_MIN = 4_096;
/** No clock that is right shows a time before this release. */
const RELEASED_AT = Date.parse('2026-01-01T00:00:00Z');

/** `v20.19.1` → whether it is new enough. */
export const nodeVerdict = (version: string): Verdict => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const [oldestMajor, oldestMinor] = NODE_OLDEST;
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
    ? ok(version)
    : problem(`${version} is too old: install Node.js ${NODE_OLDEST.join('.')} or newer.`);
};

/** `soft`: how many files a process may have open, a number or `unlimited`. */
export const openFilesVerdict = (soft: string): Verdict => {
  const limit = soft === 'unlimited' ? Infinity : Number(soft);
  if (soft === '' || Number.isNaN(limit)) return ok('This system does not say how many files may be open.');
  const shown = soft === 'unlimited' ? 'as many as there are' : soft;
  return limit >= OPEN_FILES_MIN
    ? ok(`A process may have ${shown} files open.`)
    : warning(
        `A process may have ${shown} files and sockets open, which many callers at once use up: ` +
          `start the service with \`ulimit -n 65536\`, or LimitNOFILE= of systemd.`,
      );
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** What the system allows this process, as Node reports it. */
const openFiles = (): string => {
  // Without it the report looks up the name of every peer. Node 20 has it, its types do not.
  Object.assign(process.report, { excludeNetwork: true });
  const limits: unknown = (process.report.getReport() as unknown as Record<string, unknown>)['userLimits'];
  const files = isRecord(limits) ? limits['open_files'] : undefined;
  return isRecord(files) ? String(files['soft']) : '';
};

/** A clock that has lost its time, as after a start without a battery. */
export const clockVerdict = (nowMs: number): Verdict =>
  nowMs >= RELEASED_AT
    ? ok(new Date(nowMs).toISOString())
    : problem(
        `The clock shows ${new Date(nowMs).toISOString()}, before this release was made: set it, ` +
          'and let it be kept (timedatectl set-ntp true). Events would be recorded with wrong ' +
          'times.',
      );

/** What concerns the machine and Node, whatever the configuration says. */
export const processChecks = (nowMs: () => number): readonly Check[] => [
  { name: 'node', limitMs: SECOND_MS, look: () => nodeVerdict(process.version) },
  { name: 'clock', limitMs: SECOND_MS, look: () => clockVerdict(nowMs()) },
  { name: 'open files', limitMs: 5 * SECOND_MS, look: () => openFilesVerdict(openFiles()) },
];

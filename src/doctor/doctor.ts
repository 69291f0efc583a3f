import { once } from 'node:events';
import { createServer } from 'node:net';
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { absentAsUndefined, codeOf, reasonOf } from '../../domain/kernel/json.ts';
import type { FolderOwner } from '../../domain/ports/services.ts';
import type { ServiceFacts } from '../operator/socket.ts';

const health = z.object({
  status: z.string(),
  version: z.string(),
  parts: z.record(z.string(), z.unknown()),
});

/** Where to knock: `0.0.0.0` and `::` only say that all addresses are listened on. */
const reachable = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
};

export const addressOf = (host: string, port: number): string =>
  `http://${reachable(host).includes(':') ? `[${reachable(host)}]` : reachable(host)}:${String(port)}`;

const listening = async (host: string, port: number): Promise<AddressState> => {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return { kind: 'free' };
  } catch (error) {
    return { kind: 'unusable', code: codeOf(error) };
  }
};

/** Asks the process at an address who it is; if nobody answers, tries for a moment to listen there. */
export const addressState = async (
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<AddressState> => {
  const answer = await fetch(`${addressOf(host, port)}/health`, { signal, redirect: 'manual' }).catch(
    () => undefined,
  );
  if (answer === undefined) return listening(host, port);
  const read = health.safeParse(await answer.json().catch(() => undefined));
  return read.success
    ? { kind: 'quire', version: read.data.version, status: read.data.status }
    : { kind: 'stranger', what: `it answers /health with ${String(answer.status)}` };
};

/** How a thing stands. A warning keeps nothing from working today; a problem does. */
export type Level = 'ok' | 'warning' | 'problem';

export interface Verdict {
  readonly level: Level;
  /** The state, and if it is not well, what to do about it. */
  readonly text: string;
}

export interface Check {
  readonly name: string;
  /** Longer than this it may not take; undefined: as long as it needs. */
  readonly limitMs: number | undefined;
  /** A check that throws has found a problem; what it opened, it closes when `signal` aborts. */
  readonly look: (signal: AbortSignal) => Promise<Verdict> | Verdict;
}

export interface Finding extends Verdict {
  readonly check: string;
}

export const ok = (text: string): Verdict => ({ level: 'ok', text });
export const warning = (text: string): Verdict => ({ level: 'warning', text });
export const problem = (text: string): Verdict => ({ level: 'problem', text });

/** Texts come from drivers and servers: one line each, whatever they hold. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const lookWithin = async ({ look, limitMs }: Check, asked: AbortSignal): Promise<Verdict> => {
  if (limitMs === undefined) return look(asked);
  const ended = new AbortController();
  const signal = AbortSignal.any([asked, ended.signal]);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => {
      const text =
        `It did not answer within ${String(limitMs / 1000)} s: check that it runs, and that no ` +
        'firewall drops the connection.';
      resolve(problem(text));
    }, limitMs);
  });
  try {
    return await Promise.race([late, look(signal)]);
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
};

const made = async (check: Check, signal: AbortSignal): Promise<Finding> => {
  try {
    const { level, text } = await lookWithin(check, signal);
    return { check: check.name, level, text: oneLine(text) };
  } catch (error) {
    return { check: check.name, level: 'problem', text: oneLine(reasonOf(error)) };
  }
};

/** Makes all checks at once; findings come in the order of the checks. */
export const runChecks = (checks: readonly Check[], signal: AbortSignal): Promise<readonly Finding[]> =>
  Promise.all(checks.map((check) => made(check, signal)));

const MIB = 1024 * 1024;
const FREE_LITTLE_BYTES = 1024 * MIB;
const FREE_TOO_LITTLE_BYTES = 100 * MIB;
const OTHERS = 0o077;

/** `f_type` of file systems over a network, on which the locks of SQLite do not hold. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
]);

/** The folder itself, or the nearest one above it that is there. */
const nearest = async (folder: string): Promise<string> => {
  if ((await absentAsUndefined(stat(folder))) !== undefined) return folder;
  const parent = dirname(folder);
  return parent === folder ? folder : nearest(parent);
};

const mayWrite = async (folder: string): Promise<string | undefined> => {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
};

const whoHas = (owner: number): string => {
  const self = process.getuid?.();
  return self === undefined || self === owner ? '' : `, which belongs to user ${String(owner)}`;
};

const notWritable = (folder: string, code: string): Verdict =>
  problem(
    code === 'EROFS'
      ? `${folder} is mounted for reading only: mount it for writing, or set DATA_DIR to another folder.`
      : `${folder} cannot be written to by this user (${code}): give it the folder (chown), or ` +
          'set DATA_DIR to another one.',
  );

/** The folder, and its readers. */
export const dataFolderVerdict = async (dataDir: string): Promise<Verdict> => {
  const found = await absentAsUndefined(stat(dataDir));
  if (found === undefined) {
    const parent = await nearest(dataDir);
    const code = await mayWrite(parent);
    return code === undefined
      ? ok(`${dataDir} is not there yet: the first start makes it.`)
      : notWritable(parent, code);
  }
  if (!found.isDirectory()) return problem(`${dataDir} is no folder: set DATA_DIR to one.`);
  const code = await mayWrite(dataDir);
  if (code !== undefined) return notWritable(`${dataDir}${whoHas(found.uid)},`, code);
  if (whoHas(found.uid) !== '')
    return warning(
      `${dataDir} can be written to by this user${whoHas(found.uid)}: start service and commands as that user.`,
    );
  return (found.mode & OTHERS) === 0
    ? ok(dataDir)
    : warning(
        `${dataDir} can be entered by other users (mode ${(found.mode & 0o777).toString(8)}): ` +
          `chmod 700 ${dataDir}, because it holds documents and secrets.`,
      );
};

/** The free space of a disk, and what that means. */
export const freeSpaceVerdict = (folder: string, freeBytes: number): Verdict => {
  const shown = `${(freeBytes / MIB).toLocaleString('en-US', { maximumFractionDigits: 0 })} MiB are free`;
  if (freeBytes < FREE_TOO_LITTLE_BYTES)
    return problem(
      `Only ${shown} for ${folder}: make room now. A log on a full disk takes no command until there is room.`,
    );
  return freeBytes < FREE_LITTLE_BYTES
    ? warning(`Only ${shown} for ${folder}: make room soon.`)
    : ok(`${shown} for ${folder}`);
};

export const diskVerdict = async (dataDir: string): Promise<Verdict> => {
  const folder = await nearest(dataDir);
  const { bavail, bsize, type } = await statfs(folder);
  const network = NETWORK.get(type);
  if (network !== undefined)
    return problem(
      `${folder} is on ${network}, where the locks of the embedded event log do not work: set ` +
        'DATA_DIR to a folder on a disk of this machine.',
    );
  return freeSpaceVerdict(folder, bavail * bsize);
};

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

const hours = (seconds: number): string =>
  seconds < 7200 ? `${String(Math.floor(seconds / 60))} min` : `${String(Math.floor(seconds / 3600))} h`;

const named = ({ owner, isHere, command }: FolderOwner): string => {
  if (owner === undefined) return 'a process that left no name';
  if (!isHere) return `process ${String(owner.pid)} on ${owner.host ?? 'another machine'}`;
  return `process ${String(owner.pid)}${command === '' ? '' : ` (${command})`}`;
};

const servedBy = (facts: ServiceFacts, version: string): Verdict => {
  const { pid, roles, up_seconds } = facts;
  const text =
    `The service runs: process ${String(pid)}, version ${facts.version}, ${roles.join(', ')},` +
    ` up ${hours(up_seconds)}`;
  return facts.version === version
    ? ok(`${text}.`)
    : warning(`${text}; this command is of version ${version}: use the one of the service.`);
};

/** The owner of the data folder. `facts`: answer of the service on its socket; undefined: none. */
export const ownerVerdict = (
  found: FolderOwner,
  facts: ServiceFacts | undefined,
  version: string,
): Verdict => {
  if (facts !== undefined) return servedBy(facts, version);
  if (found.isRestoring && !found.isLocked)
    return problem(
      'A restore into the folder was interrupted: empty the folder, and run `quire restore` again.',
    );
  if (found.isLocked && found.isHere && !found.isRunning)
    return warning(
      `The lock of ${named(found)}, which no longer runs, is a few seconds old: the next start takes it over.`,
    );
  if (found.isLocked)
    return warning(
      `The folder is locked by ${named(found)}, and no service answers on its socket: it is a ` +
        'command at work, a service that starts or ends, or one that hangs. If it stays so, stop ' +
        'that process.',
    );
  return ok('The folder is free: no service runs on it.');
};

/** What answered at the address of the service, if anything. */
type AddressState =
  | { readonly kind: 'quire'; readonly version: string; readonly status: string }
  | { readonly kind: 'stranger'; readonly what: string }
  /** It was listened on for a moment. */
  | { readonly kind: 'free' }
  | { readonly kind: 'unusable'; readonly code: string };

const UNUSABLE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not listen on it: set PORT to one above 1023',
  EADDRINUSE: 'another program has it, and does not answer: stop that, or set PORT to another one',
  EADDRNOTAVAIL: 'HOST is no address of this machine: set it to 127.0.0.1, or to 0.0.0.0 for all',
  ENOTFOUND: 'HOST is no name that this machine knows: set it to an address',
};

const answered = (
  { version, status }: Extract<AddressState, { kind: 'quire' }>,
  address: string,
  isOwn: boolean,
): Verdict => {
  if (!isOwn)
    return warning(
      `Quire ${version} answers at ${address}, and it is not the service of this data folder: ` +
        'set PORT or DATA_DIR as that one has it, or to others.',
    );
  return status === 'ok'
    ? ok(`Our own service answers at ${address}, and is well.`)
    : warning(`Our own service answers at ${address} and is ${status}: /health says which part.`);
};

/** `isOwn`: what answers there is the service of the data folder. */
export const addressVerdict = (address: string, state: AddressState, isOwn: boolean): Verdict => {
  switch (state.kind) {
    case 'quire':
      return answered(state, address, isOwn);
    case 'stranger':
      return problem(
        `Another program answers at ${address} (${state.what}): stop that, or set PORT to another one.`,
      );
    case 'free':
      return ok(`${address} is free.`);
    case 'unusable':
      return problem(`${address} cannot be listened on: ${UNUSABLE[state.code] ?? state.code}.`);
  }
};

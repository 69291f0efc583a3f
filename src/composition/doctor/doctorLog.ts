import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { readObject } from '../../../adapters/local/objectFolder.ts';
import { systemClock } from '../../../adapters/local/local.ts';
import type { OpenClaim } from '../../commands/payments.ts';
import type { Config } from '../../config.ts';
import { ok, problem, reasonOf, warning, type Check, type Verdict } from '../../doctor/doctor.ts';
import {
  type EmbeddedLog,
  embeddedLogVerdict,
  encryptionVerdict,
  openPaymentsVerdict,
  rightsVerdict,
  sealedSecrets,
  serverLogVerdict,
} from '../../doctor/parts.ts';
import { askOperator, itemsOf, runningSocket } from '../../operator/socket.ts';
import { openClaims } from '../../operator/records.ts';
import { SERVER_MS } from './doctorServers.ts';
import type { Doctor } from './doctor.ts';
import { logFileIn, withLogReader } from '../parts/openStores.ts';
import { folderKey, secretBoxOf } from '../secretBoxOf.ts';

const LOG_MS = 20_000;
/** Before the check's own limit, so that what was found until then is shown. */
const LOOK_MS = LOG_MS - 2_000;

const foundIn = ({ parts }: Awaited<ReturnType<typeof checkEventLog>>): EmbeddedLog | undefined => {
  const facts = parts.find((part) => part.kind === 'facts');
  if (facts === undefined) return undefined;
  const file = parts.find((part) => part.kind === 'file');
  const chains = parts.find((part) => part.kind === 'chains');
  return { ...facts, fileComplaints: file?.complaints, chains };
};

const embeddedLog = async ({ config, deep, nowMs }: Doctor, signal: AbortSignal): Promise<Verdict> => {
  const path = logFileIn(config.dataDir);
  if (!existsSync(path)) return ok(`${path} is not there yet: the first start makes it.`);
  const until = deep ? signal : AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
  const looked = await checkEventLog(path, { deep, signal: until });
  const found = foundIn(looked);
  if (found !== undefined && (looked.error === null || until.aborted))
    return embeddedLogVerdict(path, found, { deep, nowMs: nowMs() });
  return problem(
    `${path} cannot be read (${looked.error ?? 'nothing was found'}): look at the folder's ` +
      'rights, or restore a backup (docs/how-to/back-up-and-restore.md).',
  );
};

const serverLog = async (url: string, signal: AbortSignal): Promise<Verdict> => {
  const { openEventStoreDb, rightsMissing } = await import('../../../adapters/eventstoredb/eventStoreDb.ts');
  const { firstHostOf, serverClock } = await import('../../../adapters/eventstoredb/subscription.ts');
  const host = new URL(firstHostOf(url) ?? 'http://unknown').host;
  const clock = serverClock(url, AbortSignal.any([signal, AbortSignal.timeout(3_000)])).catch(
    () => undefined,
  );
  const log = openEventStoreDb({ connectionString: url, readTimeoutMs: SERVER_MS - 2_000 });
  try {
    const missing = await rightsMissing(log, url, signal);
    if (missing.length > 0) return rightsVerdict(host, missing);
    const began = performance.now();
    const position = await log.head();
    const answerMs = performance.now() - began;
    return serverLogVerdict(host, { position, answerMs, skewMs: (await clock)?.skewMs });
  } catch (error) {
    return problem(
      `EventStoreDB at ${host} cannot be read (${reasonOf(error)}): look whether it runs, ` +
        'whether tls= in EVENTSTORE_URL is as the server has it, and whether user and password ' +
        'are right.',
    );
  } finally {
    await log.close();
  }
};

/** Reads an object beside whoever has the store open. */
const objectReader = async ({ s3, dataDir }: Config) => {
  if (s3 === undefined) return (key: string) => readObject(join(dataDir, 'objects'), key);
  const { bucketProbe } = await import('../../../adapters/minio.ts');
  return bucketProbe(s3, () => systemClock().now()).get;
};

const NO_SECRETS = { opened: 0, old: 0, lost: [] };

const opened = async (config: Config, signal: AbortSignal): Promise<Verdict> => {
  const ofFolder = await folderKey(config);
  const key = config.secretKeys !== undefined ? 'given' : ofFolder !== undefined ? 'folder' : 'none';
  if (config.eventStoreUrl === undefined && !existsSync(logFileIn(config.dataDir)))
    return encryptionVerdict(key, NO_SECRETS);
  const get = await objectReader(config);
  const found = await withLogReader(config, (log) =>
    sealedSecrets({ log, get, box: secretBoxOf(config, ofFolder) }, signal),
  );
  return encryptionVerdict(key, found);
};

const encryption = async (config: Config, signal: AbortSignal): Promise<Verdict> => {
  try {
    return await opened(config, signal);
  } catch (error) {
    return warning(
      `Whether keys of saved configs and webhooks can be opened could not be seen (${reasonOf(error)}): ` +
        'mend the event log and the objects first.',
    );
  }
};

/** Asked of the service where one runs: it knows them without reading the whole log. */
const openPaymentsOf = async (config: Config, signal: AbortSignal): Promise<readonly OpenClaim[]> => {
  const embedded = config.eventStoreUrl === undefined;
  if (embedded && !existsSync(logFileIn(config.dataDir))) return [];
  const socket = embedded ? await runningSocket(config.dataDir) : undefined;
  if (socket === undefined) return withLogReader(config, (log) => openClaims(log, undefined, signal));
  const asked = { name: 'payments.list-open', input: {} };
  return itemsOf((send) => askOperator(socket, asked, { send, signal }));
};

const openPayments = async ({ config, deep, nowMs }: Doctor, signal: AbortSignal): Promise<Verdict> => {
  const until = deep ? signal : AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
  try {
    return openPaymentsVerdict(await openPaymentsOf(config, until), nowMs());
  } catch (error) {
    const why = until.aborted
      ? 'the log is too long for a quick look: --deep takes its time'
      : reasonOf(error);
    return warning(`Whether payments were left undone could not be seen (${why}).`);
  }
};

/** The event log, the keys of saved configs and webhooks, which only it names, and payments that were left undone. */
export const logChecks = (doctor: Doctor): readonly Check[] => {
  const { config, deep } = doctor;
  const { eventStoreUrl } = config;
  return [
    eventStoreUrl === undefined
      ? {
          name: 'event log',
          limitMs: deep ? undefined : LOG_MS,
          look: (signal) => embeddedLog(doctor, signal),
        }
      : { name: 'event log', limitMs: SERVER_MS, look: (signal) => serverLog(eventStoreUrl, signal) },
    {
      name: 'encryption',
      limitMs: deep ? undefined : LOG_MS,
      look: (signal) => encryption(config, signal),
    },
    {
      name: 'payments',
      limitMs: deep ? undefined : LOG_MS,
      look: (signal) => openPayments(doctor, signal),
    },
  ];
};

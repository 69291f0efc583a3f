import type { OpenClaim } from '../commands/money/payments.ts';
import { ok, problem, type Verdict, warning } from './doctor.ts';
import { standingStill } from '../../projections/engine/lag.ts';
import { DIVERGED } from '../../projections/engine/divergence.ts';
import type { ReadModelStatus } from '../operator/log.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { type SecretBox, secretObjectKey, type SecretOwner } from '../../domain/ports/services.ts';
import { heldSecrets, nameOfHolder, secretHolders } from '../operator/access.ts';

/** A sweeper settles a claim that a crash left open within a minute or two. */
const SETTLED_WITHIN_MS = 5 * 60_000;

const NAMED = 5;

const named = (claims: readonly OpenClaim[]): string => {
  const shown = claims
    .slice(0, NAMED)
    .map(
      ({ provider, provider_txn_id, tenant_id, kind }) =>
        `${provider} ${provider_txn_id} (${kind} of ${tenant_id})`,
    );
  const more = claims.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
};

/** Payments that are claimed and neither done nor released. */
export const openPaymentsVerdict = (claims: readonly OpenClaim[], nowMs: number): Verdict => {
  const stranded = claims.filter(({ stuck }) => stuck !== null);
  if (stranded.length > 0)
    return problem(
      `${String(stranded.length)} payments are claimed and cannot be finished by rule: ` +
        `${named(stranded)}. Have them sent again, or give them up: \`quire payments list-open\`,` +
        ` \`quire payments release\`.`,
    );
  const old = claims.filter(({ claimed_at }) => nowMs - Date.parse(claimed_at) > SETTLED_WITHIN_MS);
  if (old.length > 0)
    return warning(
      `${String(old.length)} payments have been claimed for long and are not done: ` +
        `${named(old)}. The service finishes or releases them when it runs; if it runs, look for ` +
        '"sweep failed" in its log.',
    );
  return ok('No payment is claimed and left undone.');
};

const MINUTE_MS = 60_000;
const LAG_MAX = 10_000;
const grouped = (n: number): string => n.toLocaleString('en-US');
const ms = (n: number): string => `${n < 10 ? n.toFixed(1) : n.toFixed(0)} ms`;

/** The findings in the embedded log, as far as it was read. */
export interface EmbeddedLog {
  readonly position: number;
  readonly newest_at: string | null;
  /** Which log the file's header says it is, and which its first event; null: it does not say. */
  readonly log_id: { readonly header: string | null; readonly opened: string | null };
  /** undefined: the look was ended before. */
  readonly fileComplaints: readonly string[] | undefined;
  readonly chains: ChainsSeen | undefined;
}

interface ChainsSeen {
  readonly streams: number;
  readonly events: number;
  readonly broken: readonly string[];
  readonly breaks: number;
}

const RESTORE = 'stop the service and restore a backup (docs/how-to/back-up-and-restore.md)';

/** Events cannot be newer than now, unless one clock was wrong. */
const fromTheFuture = (newestAt: string | null, nowMs: number): string | undefined =>
  newestAt !== null && Date.parse(newestAt) > nowMs + MINUTE_MS
    ? `Its newest event was recorded at ${newestAt}, which is in the future: the clock is ` +
      'wrong now or was wrong then. Set it, and let it be kept (timedatectl set-ntp true).'
    : undefined;

/** A log that no release with identities has opened has neither name. */
const otherLog = (path: string, { header, opened }: EmbeddedLog['log_id']): string | undefined =>
  header === null || header === opened
    ? undefined
    : `${path} says in its header that it is the log ${header}, and its first event ` +
      `${opened === null ? 'names none' : `says ${opened}`}: it was put together of two logs, ` +
      `or edited; ${RESTORE}.`;

const chainsText = ({ streams, events }: ChainsSeen, deep: boolean): string =>
  `the hash chains of ${grouped(streams)} streams hold (${grouped(events)} ` +
  `events${deep ? '' : '; --deep looks at all'})`;

/** The embedded log: file, layout, chains, times. */
export const embeddedLogVerdict = (
  path: string,
  found: EmbeddedLog,
  { deep, nowMs }: { readonly deep: boolean; readonly nowMs: number },
): Verdict => {
  const { fileComplaints, chains, position, newest_at, log_id } = found;
  if (fileComplaints !== undefined && fileComplaints.length > 0)
    return problem(`${path} is damaged (${fileComplaints.join('; ')}): ${RESTORE}.`);
  if (chains !== undefined && chains.breaks > 0)
    return problem(
      `Hash chains do not hold, ${grouped(chains.breaks)} times: ${chains.broken.join('; ')}. ` +
        `\`quire audit --log-only\` shows all; ${RESTORE}.`,
    );
  const other = otherLog(path, log_id);
  if (other !== undefined) return problem(other);
  const future = fromTheFuture(newest_at, nowMs);
  if (future !== undefined) return problem(future);
  const facts = `${path} is at position ${grouped(position)}`;
  if (fileComplaints === undefined || chains === undefined)
    return warning(
      `${facts}; there was no time to look through it: run \`quire doctor --deep\`, which takes its time.`,
    );
  return ok(`${facts}, its file is intact, ${chainsText(chains, deep)}.`);
};

/** How far two clocks may be apart before calls to EventStoreDB, which end at a time by our clock, end at once. */
const SKEW = { odd: 5_000, fatal: 60_000 } as const;

/** EventStoreDB. `skewMs`: its clock minus ours; undefined: it does not tell. */
export const serverLogVerdict = (
  host: string,
  {
    position,
    answerMs,
    skewMs,
  }: { position: bigint | undefined; answerMs: number; skewMs: number | undefined },
): Verdict => {
  const facts =
    `EventStoreDB at ${host} answers in ${ms(answerMs)}, ` +
    (position === undefined ? 'the log is empty' : `the log ends at ${position.toString()}`);
  if (skewMs === undefined) return ok(`${facts}; it does not tell the time of its clock.`);
  const apart = Math.abs(skewMs);
  const seconds = (apart / 1000).toFixed(0);
  if (apart < SKEW.odd) return ok(`${facts}; clocks agree.`);
  const text = `${facts}; its clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} ours: keep both by NTP`;
  return apart < SKEW.fatal
    ? warning(`${text}.`)
    : problem(`${text}, for each append ends at a time by our clock, and times of events would be wrong.`);
};

/** A cluster that runs may still not be reachable: its nodes name each other by addresses of their own. */
export const serverAway = (
  host: string,
  { reason, isCluster }: { readonly reason: string; readonly isCluster: boolean },
): Verdict =>
  problem(
    `EventStoreDB at ${host} cannot be read (${reason}): look whether ` +
      (isCluster
        ? 'most of its nodes run and have a leader, whether each is reached from here by the address that it ' +
          'tells the others (AdvertiseHostToClientAs), '
        : 'it runs, ') +
      'and whether tls= in EVENTSTORE_URL is as the server has it.',
  );

export const loginVerdict = (host: string): Verdict =>
  problem(
    `EventStoreDB at ${host} runs, and refuses the user or the password in EVENTSTORE_URL: write them before the ` +
      'host, as user:password@host, and characters like @ and / in them as %40 and %2F.',
  );

export const rightsVerdict = (host: string, missing: readonly string[]): Verdict =>
  problem(
    `The user of EVENTSTORE_URL at ${host} may not ${missing.join(', ')}: give it these ` +
      'rights (docs/how-to/run-replicas.md, "A user of EventStoreDB").',
  );

export interface PostgresFacts {
  readonly answerMs: number;
  /** `server_version_num`. */
  readonly version: number;
  readonly encoding: string;
  /** It only follows another server. */
  readonly standby: boolean;
  /** Whether the user may make schemas. */
  readonly mayCreate: boolean;
  /** Schemas of ours that belong to a role the user does not have. */
  readonly foreign: readonly string[];
  readonly connectionsFree: number;
}

const POSTGRES_OLDEST = 130_000;
/** Of one process: a pool of ten, and locks. */
const CONNECTIONS = 12;

/** Only a process that projects makes and owns tables; others need what docs/hardening grants them. */
const rightsProblem = ({ mayCreate, foreign }: PostgresFacts): string | undefined => {
  if (!mayCreate)
    return 'The user may not make schemas in it: GRANT CREATE ON DATABASE … TO that user, as its owner.';
  if (foreign.length > 0)
    return `The schemas ${foreign.join(', ')} belong to another role: use the user that made them.`;
  return undefined;
};

const postgresProblem = ({ version, encoding, standby }: PostgresFacts): string | undefined => {
  if (version < POSTGRES_OLDEST) return 'It is too old: version 13 or newer is needed.';
  if (standby) return 'It is a standby, which takes no writes: set DATABASE_URL to the primary.';
  if (encoding !== 'UTF8') return `Its encoding is ${encoding}: make the database with encoding UTF8.`;
  return undefined;
};

/**
 * Postgres as a place for read models. Nothing of it has to be installed: no extension, no locale. `projects`:
 * the process has the role projector.
 */
export const postgresVerdict = (host: string, facts: PostgresFacts, projects: boolean): Verdict => {
  const major = Math.floor(facts.version / 10_000);
  const text = `PostgreSQL ${String(major)} at ${host} answers in ${ms(facts.answerMs)}`;
  const wrong = postgresProblem(facts) ?? (projects ? rightsProblem(facts) : undefined);
  if (wrong !== undefined) return problem(`${text}. ${wrong}`);
  return facts.connectionsFree < CONNECTIONS
    ? warning(
        `${text}; ${String(facts.connectionsFree)} connections are free, and a process of Quire ` +
          `uses up to ${String(CONNECTIONS)}: raise max_connections.`,
      )
    : ok(`${text}; the user has the rights that it needs.`);
};

/** What has stopped, the serving rows or their new version; undefined: nothing. */
const stoppedText = (statuses: readonly ReadModelStatus[]): string | undefined => {
  const sentences = statuses.flatMap(({ name, state, position, reason, next }) => {
    const why = reason ?? 'no reason given';
    if (state === 'stopped') return [`${name} has stopped at ${position ?? 'the start'} (${why})`];
    const isLeft = next?.state === 'stopped';
    return isLeft ? [`version ${String(next.version)} of ${name} could not be built (${why})`] : [];
  });
  return sentences.length === 0 ? undefined : sentences.join('; ');
};

const parkedText = (statuses: readonly ReadModelStatus[]): string | undefined => {
  const all = statuses.flatMap(({ name, parked }) =>
    parked.map(({ tenant_id, reason }) => `${tenant_id} in ${name} (${reason})`),
  );
  const more = all.length > 3 ? ` and ${String(all.length - 3)} more` : '';
  return all.length === 0 ? undefined : `Parked: ${all.slice(0, 3).join('; ')}${more}`;
};

const stillText = (still: readonly string[], statuses: readonly ReadModelStatus[]): string => {
  const longest = Math.max(...statuses.map(({ still_seconds }) => still_seconds));
  return (
    `${still.slice(0, 3).join(', ')}${still.length > 3 ? ` and ${String(still.length - 3)} more` : ''} ` +
    `have not moved for ${grouped(Math.floor(longest))} s although events wait: look whether a process with the ` +
    'role projector runs and what its log says, and restart it (docs/reference/alerts.md, QuireProjectionStandsStill).'
  );
};

/** What a person has to do about them; undefined: nothing. */
const needOfModels = (statuses: readonly ReadModelStatus[]): Verdict | undefined => {
  const stopped = stoppedText(statuses);
  if (stopped !== undefined)
    return problem(
      `${stopped}: install the release that mends it and restart, or \`quire projections ` +
        `rebuild\` (docs/how-to/rebuild.md).`,
    );
  const parked = parkedText(statuses);
  if (parked !== undefined)
    return problem(
      `${parked}: install the release that mends it, and \`quire projections retry\` (docs/how-to/rebuild.md).`,
    );
  const paused = statuses.filter(({ is_paused }) => is_paused).map(({ name }) => name);
  if (paused.length > 0)
    return warning(
      `${paused.join(', ')} paused: \`quire projections resume ${paused[0] ?? ''}\` lets it go on.`,
    );
  const still = standingStill(statuses);
  return still.length > 0 ? problem(stillText(still, statuses)) : undefined;
};

/** How late they are. */
const latenessOfModels = (statuses: readonly ReadModelStatus[]): Verdict => {
  const lags = statuses.map(({ lag_events }) => lag_events ?? Infinity);
  const lag = Math.max(...lags);
  const how = Number.isFinite(lag) ? `${grouped(lag)} events` : 'more than 100,000 events';
  const late = statuses.filter(({ lag_events }) => (lag_events ?? Infinity) === lag).map(({ name }) => name);
  const building = statuses.filter(({ next }) => next !== null).length;
  const text =
    `${String(statuses.length)} read ` +
    `models${building === 0 ? '' : `, ${String(building)} of them with a new version being built`}`;
  return lag > LAG_MAX
    ? warning(
        `${text}; ${late.slice(0, 3).join(', ')} ${how} behind the log: look whether a process ` +
          'with the role projector runs.',
      )
    : ok(`${text}, at most ${how} behind the log.`);
};

/** The read models, as the registry has them. */
export const readModelsVerdict = (statuses: readonly ReadModelStatus[]): Verdict => {
  if (statuses.length === 0) return ok('There are none yet: the first start makes them.');
  const diverged = statuses.find(({ state }) => state === 'diverged');
  if (diverged !== undefined) return problem(`They diverged, for ${diverged.reason ?? ''}. ${DIVERGED}`);
  return needOfModels(statuses) ?? latenessOfModels(statuses);
};

/** Redis holds rate limits alone, so nothing stops without it. */
export const redisVerdict = (host: string, answerMs: number, version: string): Verdict => {
  const text = `Redis ${version} at ${host} answers in ${ms(answerMs)}`;
  return answerMs > 50
    ? warning(
        `${text}: every request waits for it, and beyond 100 ms each process counts its limits alone. Move it closer.`,
      )
    : ok(`${text}.`);
};

export const redisAway = (host: string, reason: string): Verdict =>
  warning(
    `Redis at ${host} cannot be reached (${reason}): each process counts its limits alone ` +
      'meanwhile, so with several processes callers get several times their limits. Start it, ' +
      'or check REDIS_URL.',
  );

/** The state of the secrets of saved configs and webhooks. */
interface SealedSecrets {
  readonly opened: number;
  /** Sealed with a key of FIELD_ENCRYPTION_KEYS_OLD, or with that of the data folder. */
  readonly old: number;
  readonly lost: readonly string[];
}

const HELD = 'keys of saved configs and webhooks';

const WITHOUT_KEY =
  'FIELD_ENCRYPTION_KEY is not set, and the data folder has no encryption-secret: own keys and webhooks are refused';

const FOLDER_KEY = "the data folder's encryption-secret";

const lostVerdict = (lost: readonly string[], total: number, key: 'given' | 'folder'): Verdict => {
  const cure =
    key === 'given'
      ? 'put the key that sealed them into FIELD_ENCRYPTION_KEYS_OLD'
      : `set FIELD_ENCRYPTION_KEY to the one that sealed them, or put back ${FOLDER_KEY}`;
  return problem(
    `${grouped(lost.length)} of ${grouped(total)} ${HELD} cannot be opened (${lost.slice(0, 3).join(', ')}): ` +
      `${cure}, or publish these configs and rotate the secrets of these webhooks.`,
  );
};

const openedVerdict = (key: 'given' | 'folder', opened: number): Verdict =>
  key === 'given'
    ? ok(`FIELD_ENCRYPTION_KEY is set and opens the ${grouped(opened)} ${HELD}.`)
    : ok(
        `FIELD_ENCRYPTION_KEY is not set: ${FOLDER_KEY} is used and opens the ${grouped(opened)} ${HELD}. Without ` +
          'that file the secrets of webhooks, and own keys and passwords of work that waits, are lost; backups ' +
          'have it. Saved configs with own keys need FIELD_ENCRYPTION_KEY.',
      );

/** `key`: FIELD_ENCRYPTION_KEY, whose form was checked with the environment, or that of the data folder. */
export const encryptionVerdict = (
  key: 'given' | 'folder' | 'none',
  { opened, old, lost }: SealedSecrets,
): Verdict => {
  const total = opened + lost.length;
  if (key === 'none')
    return total === 0
      ? ok(`${WITHOUT_KEY}. \`openssl rand -base64 32\` makes a key.`)
      : problem(
          `${WITHOUT_KEY}, and saved configs and webhooks hold ${grouped(total)} keys: set the one that sealed them, ` +
            'or put the file back.',
        );
  if (lost.length > 0) return lostVerdict(lost, total, key);
  if (old > 0)
    return warning(
      `FIELD_ENCRYPTION_KEY is set; ${grouped(old)} of ${grouped(total)} ${HELD} ` +
        `are sealed with an old one: \`quire secrets rotate\`.`,
    );
  return openedVerdict(key, opened);
};

/** What keeps the processes that parse documents from everything else, as it was tried on this machine. */
export interface ProtectionFacts {
  readonly launcher: 'landlock' | 'bubblewrap' | 'none';
  readonly permissionModel: boolean;
  readonly open: readonly string[];
}

const LAUNCHERS: Readonly<Record<ProtectionFacts['launcher'], string>> = {
  landlock: 'Landlock and seccomp',
  bubblewrap: 'bubblewrap',
  none: 'nothing of the system',
};

/** A line for the banner: `confined by Landlock and seccomp, Node's permission model`. */
export const protectionText = ({ launcher, permissionModel, open }: ProtectionFacts): string => {
  const by = [
    ...(launcher === 'none' ? [] : [LAUNCHERS[launcher]]),
    ...(permissionModel ? ["Node's permission model"] : []),
  ];
  const what = by.length === 0 ? 'not confined' : `confined by ${by.join(', ')}`;
  return open.length === 0 ? what : `${what}; native code still reaches: ${open.join(', ')}`;
};

const WHAT_TO_DO =
  'Let the kernel have Landlock (Linux 5.13, perl-base installed), or install bubblewrap ' +
  'where user namespaces are allowed; see docs/how-to/harden.md';

/** As `quire doctor` shows it. */
export const protectionVerdict = (facts: ProtectionFacts): Verdict =>
  facts.open.length === 0
    ? ok(`The processes that parse are ${protectionText(facts)}: they reach no file, process or network.`)
    : warning(`The processes that parse are ${protectionText(facts)}. ${WHAT_TO_DO}.`);

interface SecretsDeps {
  readonly log: EventStore & EventFeed;
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
  /** undefined: there is no key to open with. */
  readonly box: SecretBox | undefined;
}

/** Whether a secret opens, and with the key that seals now. */
const openedAs = async (
  { get, box }: SecretsDeps,
  owner: SecretOwner,
): Promise<'current' | 'old' | 'lost'> => {
  const sealed = await get(secretObjectKey(owner.secret_id));
  const opened = sealed === undefined ? undefined : box?.open(sealed, owner);
  if (opened?.kind !== 'opened') return 'lost';
  return opened.isCurrent ? 'current' : 'old';
};

/** Tries every secret that saved configs and webhooks hold. Opened secrets are dropped at once. */
export const sealedSecrets = async (deps: SecretsDeps, signal: AbortSignal): Promise<SealedSecrets> => {
  const found = { opened: 0, old: 0, lost: [] as string[] };
  for (const holder of await secretHolders(deps.log, signal)) {
    const { tenant_id, secrets } = await heldSecrets(deps.log, holder);
    for (const secret_id of secrets) {
      signal.throwIfAborted();
      const fate = await openedAs(deps, { tenant_id, secret_id });
      if (fate === 'lost') found.lost.push(nameOfHolder(holder));
      else found.opened += 1;
      if (fate === 'old') found.old += 1;
    }
  }
  return found;
};

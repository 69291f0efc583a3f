import { randomBytes } from 'node:crypto';
import { accountStream } from '../../domain/account/messages.ts';
import { type ApiKeyState, formatKey, keyTraces } from '../../domain/apiKey.ts';
import type { Clock, EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { ApiKeys } from '../commands/apiKeys.ts';
import type { Config } from '../config.ts';
import type { Queries } from '../queries/queries.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { Parts } from '../parts/parts.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { exportedEvents } from './log.ts';

/** Parts of the service that make what there is to begin with. */
interface FirstStart {
  readonly config: Pick<Config, 'adminApiKey' | 'eventStoreUrl' | 'databaseUrl' | 'redisUrl' | 's3'>;
  readonly parts: { readonly log: EventStore & EventFeed };
  readonly accounts: AccountWriter;
  readonly clock: Clock;
  readonly apiKeys: Pick<ApiKeys, 'stateOf' | 'issue'>;
  readonly queries: Pick<Queries, 'liveAdminKeys'>;
}

/** The tenant that admin keys made at start belong to. */
const OPERATOR = 'operator';

/** The tenant that is there to begin with. */
const FIRST_TENANT = 'default';

/** Whether the log has an account but the operator's own: told by its first events, so not by read models. */
const hasTenants = async ({ parts }: FirstStart): Promise<boolean> => {
  const { signal } = new AbortController();
  for await (const { stream } of exportedEvents(parts.log, { category: 'account' }, signal))
    if (stream !== accountStream(OPERATOR)) return true;
  return false;
};

/**
 * Opens a first account, so that somebody who tries the service can read documents at once. Only if all parts are
 * embedded and there is no tenant yet: on servers an operator knows the tenants. Says whether it was opened.
 */
export const openFirstTenant = async (from: FirstStart): Promise<boolean> => {
  const { eventStoreUrl, databaseUrl, redisUrl, s3 } = from.config;
  const isEmbedded = [eventStoreUrl, databaseUrl, redisUrl, s3].every((server) => server === undefined);
  if (!isEmbedded || (await hasTenants(from))) return false;
  const opened = await from.accounts.execute({
    type: 'OpenAccount',
    data: { tenant_id: FIRST_TENANT },
    meta: systemMeta(from, 'first-start'),
  });
  return opened.kind === 'done';
};

/** The key that a key's rotations have led to. */
const newestOf = async (keys: Pick<ApiKeys, 'stateOf'>, keyId: string): Promise<ApiKeyState> => {
  let state = await keys.stateOf(keyId);
  while (state.replaced_by !== null) state = await keys.stateOf(state.replaced_by);
  return state;
};

/**
 * The name of the next first key; undefined while one made before opens anything. Names are counted, not
 * drawn, so that of several processes that start at once one makes the key and the log refuses the others.
 */
const freeKeyId = async (keys: Pick<ApiKeys, 'stateOf'>): Promise<string | undefined> => {
  for (let n = 1; ; n += 1) {
    const keyId = `key_first_start_${String(n)}`;
    const { key, revoked } = await newestOf(keys, keyId);
    if (key === null) return keyId;
    if (!revoked) return undefined;
  }
};

/**
 * The first admin key, made when the configuration gives none and the log has none; undefined otherwise,
 * also when another process that starts has just made it and shows it. The key is shown once and never
 * stored.
 */
export const firstAdminKey = async (from: FirstStart): Promise<string | undefined> => {
  const clock = from.clock;
  if (from.config.adminApiKey !== undefined) return undefined;
  if ((await from.queries.liveAdminKeys(clock.now())) > 0) return undefined;
  const keys = from.apiKeys;
  const key_id = await freeKeyId(keys);
  if (key_id === undefined) return undefined;
  const key = formatKey('admin', randomBytes(96));
  const meta = {
    now: clock.now(),
    actor: { key_id: 'first_start', role: 'system' },
    correlation_id: 'first-start',
    command_id: clock.uuid(),
  } as const;
  const issued = await keys.issue(
    {
      key_id,
      ...keyTraces(key),
      tenant_id: OPERATOR,
      role: 'admin',
      name: 'first start',
      expires_at: null,
    },
    meta,
  );
  if (issued.kind !== 'done') throw new Error(`the first admin key could not be stored: ${issued.kind}`);
  return issued.events.length === 0 ? undefined : key;
};

interface Started {
  readonly url: string;
  readonly isApi: boolean;
  /** The first admin key, where it was made just now. */
  readonly key: string | undefined;
  /** Signs its holder in to the console once, where the key was made. */
  readonly link: string | undefined;
  /** How far parsers are confined. */
  readonly parsers: string;
}

const whereOf = ({ url, isApi }: Started): readonly string[] =>
  isApi
    ? [`Quire listens on ${url}`, `  reference     ${url}/docs`, `  console       ${url}/`]
    : ['Quire runs without an API', `  health        ${url}/health, with /metrics beside it`];

/** The output of a start: where it listens, and its parts. */
export const banner = (parts: Pick<Parts, 'names' | 'recreated'>, started: Started): string => {
  const { key, link, parsers } = started;
  const { event_log, read_models, objects, limits } = parts.names;
  const lines = [
    '',
    ...whereOf(started),
    `  event log     ${event_log}`,
    `  read models   ${read_models}`,
    `  objects       ${objects}`,
    `  rate limits   ${limits}`,
    `  parsers       ${parsers}`,
  ];
  if (parts.recreated !== null)
    lines.push(`  read models are being rebuilt from the event log: ${parts.recreated}`);
  if (key !== undefined)
    lines.push(
      '',
      `  admin key     ${key}`,
      '                shown this once: keep it, it cannot be shown again',
    );
  if (link !== undefined)
    lines.push('', `  sign in       ${link}`, '                works once, for 15 minutes');
  else if (started.isApi)
    lines.push('  sign in       with a key, or by the link that quire sign-in-link prints');
  return `${lines.join('\n')}\n`;
};

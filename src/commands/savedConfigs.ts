import { randomUUID } from 'node:crypto';
import { checkSchemaRules } from '@quire/engine/extraction/schema/schemaRules';
import { pointedName } from '@quire/engine/kernel/json';
import {
  keptRules,
  type SavedRules,
  savedSettingsOf,
  type SavedSettings,
  type ChannelChange,
  type ChannelSettings,
  type ConfigVersion,
  liveSecrets,
  type PublishConfig,
  savedConfig,
  savedConfigEvent,
  type SavedConfigKind,
  savedConfigStream,
} from '../../domain/savedConfig.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import { type ChannelName, checkChannel, type ModelChannel, type ModelDeps } from './models.ts';
import { columnsOf } from '../../domain/rules/masterTable.ts';
import { lookupPath } from '../../domain/rules/checks.ts';
import type { Artifacts } from './deployments.ts';
import { type FindsTables, tableNotFound } from './masterTables.ts';
import { expressionChecker, fieldsOf } from '../rules/expressions.ts';
import { misfit, workProblem, type WorkProblem } from './workProblem.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../domain/ports/services.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { fateOfSecrets, getOrAside } from '../writer/setAside.ts';
import { withTexts } from '../writer/vault.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { type Tags, withTags } from '../../domain/kernel/tags.ts';

export interface DraftDeps extends Pick<ModelDeps, 'checkBase'> {
  readonly tables: FindsTables;
  readonly pipelines: { readonly artifacts: Artifacts };
  readonly clock: Pick<Clock, 'newId'>;
}

/** A config as a caller asks for it; `schema` as it came. */
interface ConfigFields extends SavedSettings, SavedRules {
  readonly config_id?: string | undefined;
  readonly tenant_id: string;
  readonly name?: string | null | undefined;
  readonly schema?: unknown;
  readonly mode?: 'balanced' | NonNullable<ConfigVersion['mode']> | null | undefined;
  readonly artifact_id?: string | null | undefined;
  readonly tags?: Tags | undefined;
  readonly llm?: ModelChannel | null | undefined;
  readonly ocr?: ModelChannel | null | undefined;
}

/** undefined: the channel can be kept as it is. */
const wrongChannel = async (
  { checkBase }: DraftDeps,
  name: ChannelName,
  channel: ModelChannel | null | undefined,
): Promise<WorkProblem | undefined> => {
  if (channel == null) return undefined;
  const wrong = checkChannel(channel, name, (_, member) => ['body', name, member]);
  if (wrong !== undefined || channel.api_base === undefined) return wrong;
  const checked = await checkBase(channel.api_base);
  return checked.kind === 'ok' ? undefined : workProblem('unsafe_api_base', checked.detail);
};

/** A channel that names nothing says nothing: the version before counts. */
const kept = (channel: ConfigDraft['llm']): ConfigDraft['llm'] =>
  channel && Object.values(channel).every((value) => value === undefined) ? undefined : channel;

/** An artifact that a config names must be there when it is published, for every request would miss it. */
const missingArtifact = async (
  { pipelines }: DraftDeps,
  tenantId: string,
  artifactId: string | null,
): Promise<WorkProblem | undefined> => {
  if (artifactId === null || (await pipelines.artifacts.find(tenantId, artifactId)) !== undefined)
    return undefined;
  return workProblem('artifact_not_found', 'There is no such artifact of this tenant.');
};

const firstWrong = async (
  deps: DraftDeps,
  { tenant_id, artifact_id, llm, ocr }: Pick<ConfigDraft, 'tenant_id' | 'artifact_id' | ChannelName>,
): Promise<WorkProblem | undefined> =>
  (await missingArtifact(deps, tenant_id, artifact_id)) ??
  (await wrongChannel(deps, 'llm', llm)) ??
  (await wrongChannel(deps, 'ocr', ocr));

/** Members left out are null; a channel's are those of the previous version. */
const withNulls = ({ config_id, mode, ...fields }: ConfigFields) => ({
  update: config_id !== undefined,
  tenant_id: fields.tenant_id,
  name: fields.name ?? null,
  mode: mode === 'balanced' ? ('standard' as const) : (mode ?? null),
  artifact_id: fields.artifact_id ?? null,
  ...savedSettingsOf(fields),
  ...keptRules(fields),
  ...withTags(fields.tags),
  llm: kept(fields.llm),
  ocr: kept(fields.ocr),
});

/** A check that can never be judged is refused when it is published, with its place. */
const wrongCheck = ({ checks }: SavedRules, schema: ConfigVersion['schema']): WorkProblem | undefined => {
  const own = checks ?? [];
  if (own.length === 0) return undefined;
  const names = new Set<string>();
  const wrongIn = expressionChecker(fieldsOf(schema));
  for (const [index, { name, expression }] of own.entries()) {
    const at = ['body', 'checks', String(index)];
    if (names.has(name)) return misfit([...at, 'name'], `There are two checks named ${name}.`);
    names.add(name);
    const wrong = wrongIn(expression);
    if (wrong !== undefined) return misfit([...at, 'expression'], wrong);
  }
  return undefined;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where a schema says more of a value. */
const ELSEWHERE = ['$ref', 'anyOf', 'oneOf', 'allOf'];

/**
 * What a schema says of a member (`*`: any item of a list); undefined: it has none. What it says by references or
 * alternatives is not followed, and may be anything.
 */
const memberOf = (schema: unknown, path: string): unknown => {
  let node = schema;
  for (const part of path.split('/').slice(1)) {
    if (!isObject(node)) return undefined;
    const { properties, items } = node;
    const name = pointedName(part);
    if (isObject(properties)) node = Object.hasOwn(properties, name) ? properties[name] : undefined;
    else if (part === '*' && items !== undefined) node = items;
    else return ELSEWHERE.some((word) => Object.hasOwn(node as object, word)) ? {} : undefined;
  }
  return node;
};

/** Values that no result can have tell nothing: they are refused when the config is published. */
const wrongDuplicates = (
  { duplicates }: SavedRules,
  schema: ConfigVersion['schema'],
): WorkProblem | undefined => {
  const isThere = (path: string): boolean =>
    schema === null || (!path.split('/').includes('*') && memberOf(schema, path) !== undefined);
  const wrong = duplicates?.values.findIndex((path) => !isThere(path)) ?? -1;
  return wrong < 0
    ? undefined
    : misfit(
        ['body', 'duplicates', 'values', String(wrong)],
        'The schema has no such member outside a list.',
      );
};

/** A look-up that can never find anything is refused when it is published, with its place. */
const wrongLookup = async (
  { tables }: DraftDeps,
  { lookups, tenant_id }: ConfigFields,
  schema: ConfigVersion['schema'],
): Promise<WorkProblem | undefined> => {
  for (const [index, { field, table_id, column }] of (lookups ?? []).entries()) {
    const at = ['body', 'lookups', String(index)];
    const member = schema === null ? {} : memberOf(schema, lookupPath(field));
    if (member === undefined) return misfit([...at, 'field'], 'The schema has no such member.');
    if (isObject(member) && ('properties' in member || 'items' in member))
      return misfit([...at, 'field'], 'It is no single value. Name one in it, such as items[].article.');
    const table = await tables.find(tenant_id, { table_id });
    if (table === undefined) return tableNotFound();
    if (!columnsOf(table).includes(column)) return misfit([...at, 'column'], 'The table has no such column.');
  }
  return undefined;
};

/** A schema as it is published; null: the config has none. */
const schemaIn = (
  given: ConfigFields['schema'],
): { readonly kind: 'schema'; readonly schema: ConfigVersion['schema'] } | WorkProblem => {
  if (given == null) return { kind: 'schema', schema: null };
  const verdict = checkSchemaRules(given);
  if (verdict.kind !== 'ok') return workProblem(verdict.kind, verdict.detail);
  return { kind: 'schema', schema: verdict.schema as ConfigVersion['schema'] };
};

/** A version to publish, checked as far as it can be before it is used. */
export const configDraft = async (
  deps: DraftDeps,
  fields: ConfigFields,
): Promise<{ readonly kind: 'draft'; readonly draft: ConfigDraft } | WorkProblem> => {
  const checked = schemaIn(fields.schema);
  if (checked.kind === 'problem') return checked;
  const { schema } = checked;
  const wrongRule =
    wrongCheck(fields, schema) ??
    wrongDuplicates(fields, schema) ??
    (await wrongLookup(deps, fields, schema));
  if (wrongRule !== undefined) return wrongRule;
  const wanted = withNulls(fields);
  const wrong = await firstWrong(deps, wanted);
  if (wrong !== undefined) return wrong;
  const config_id = fields.config_id ?? deps.clock.newId('cfg').replace('_', '-');
  return { kind: 'draft', draft: { ...wanted, config_id, schema } };
};

/** A version as it is asked for; keys in the clear, and nowhere else. */
type ConfigDraft = Pick<
  ConfigVersion,
  | 'config_id'
  | 'tenant_id'
  | 'name'
  | 'schema'
  | 'mode'
  | 'artifact_id'
  | keyof SavedSettings
  | 'rules'
  | 'tags'
> & {
  readonly update: boolean;
  /** null: none from now on; undefined: as the version before has it. */
  readonly llm: ModelChannel | null | undefined;
  readonly ocr: ModelChannel | null | undefined;
};

/** A version with its keys opened, for one request. */
interface ResolvedConfig {
  readonly kind: 'config';
  readonly version: ConfigVersion;
  readonly llm: ModelChannel;
  readonly ocr: ModelChannel;
}

export interface SavedConfigs {
  /** Keys are sealed and stored before the version is published. */
  readonly publish: (
    draft: ConfigDraft,
    meta: CommandMeta,
  ) => Promise<Outcome<SavedConfigKind> | WorkProblem>;
  readonly revoke: (configId: string, meta: CommandMeta) => Promise<Outcome<SavedConfigKind>>;
  /**
   * The latest version, from the log. `own` names the channels for which a request has a key of its own: the
   * config's is not opened then.
   */
  readonly resolve: (
    configId: string,
    tenantId: string,
    own: Readonly<Record<ChannelName, boolean>>,
  ) => Promise<ResolvedConfig | WorkProblem>;
}

interface SavedConfigDeps {
  readonly store: EventStore;
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'remove'>;
  /** undefined: the service was given no key to seal with. */
  readonly box: SecretBox | undefined;
}

const rules = { decider: savedConfig, codec: eventCodec(savedConfigEvent), streamOf: savedConfigStream };

/** The streams of saved configs. */
export const configStreams = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<SavedConfigKind>(rules, store);
  return { handle, stateOf: async (configId: string) => withTexts(store, await stateOf(configId)) };
};

/** What a sweeper is told of a saved config: keys that its latest version names stay, all others of it go. */
export const configFate = (store: EventStore) => async (configId: string) => {
  const state = await streamsOf<SavedConfigKind>(rules, store).stateOf(configId);
  return fateOfSecrets(state.revoked ? undefined : liveSecrets(state));
};

const notConfigured = (what: string): WorkProblem =>
  workProblem('field_encryption_not_configured', `${what} Ask the operator to set FIELD_ENCRYPTION_KEY.`);

const configNotFound = (): WorkProblem => workProblem('config_not_found', 'There is no such saved config.');

/** A key this short would be shown whole. */
const SHOWN_KEY_MIN = 12;

const last4Of = (key: string): string | null => (key.length < SHOWN_KEY_MIN ? null : key.slice(-4));

const settingsOf = (channel: ModelChannel, secretId: string | null): ChannelSettings => ({
  provider_model: channel.provider_model ?? null,
  api_base: channel.api_base ?? null,
  max_tokens: channel.max_tokens ?? null,
  temperature: channel.temperature ?? null,
  num_retries: channel.num_retries ?? null,
  secret_id: secretId,
  api_key_last4: channel.api_key === undefined ? null : last4Of(channel.api_key),
});

/** A channel whose key has a place of its own from now on. */
interface SealedChannel {
  readonly settings: ChannelChange;
  readonly secret_id: string | null;
}

const publishing = ({ store, objects, box }: SavedConfigDeps): SavedConfigs['publish'] => {
  const { handle, stateOf } = configStreams(store);
  const seal = async (
    channel: ConfigDraft['llm'],
    { tenant_id, config_id }: Pick<ConfigDraft, 'tenant_id' | 'config_id'>,
  ): Promise<SealedChannel> => {
    if (channel === null || channel === undefined) return { settings: channel, secret_id: null };
    if (channel.api_key === undefined || box === undefined)
      return { settings: settingsOf(channel, null), secret_id: null };
    // It names its config: a sweeper finds what nobody has any use for.
    const secret_id = `${config_id}/${randomUUID()}`;
    await objects.put(secretObjectKey(secret_id), box.seal(channel.api_key, { tenant_id, secret_id }));
    return { settings: settingsOf(channel, secret_id), secret_id };
  };
  const discard = async (secretIds: readonly (string | null)[]): Promise<void> => {
    for (const id of secretIds)
      if (id !== null) await objects.remove(secretObjectKey(id)).catch(() => undefined);
  };
  return async ({ llm, ocr, ...draft }, meta) => {
    const carriesKey = llm?.api_key !== undefined || ocr?.api_key !== undefined;
    if (carriesKey && box === undefined)
      return notConfigured('Own keys cannot be stored: this service has no secret to encrypt them with.');
    const before = await stateOf(draft.config_id);
    const sealedLlm = await seal(llm, draft);
    const sealedOcr = await seal(ocr, draft);
    const command: PublishConfig = {
      type: 'PublishConfig',
      meta,
      data: { ...draft, llm: sealedLlm.settings, ocr: sealedOcr.settings },
    };
    const outcome = await handle(draft.config_id, command, draft.tenant_id);
    // A version that may have been published must keep its keys; a key that nothing names is garbage.
    if (outcome.kind === 'done') {
      const live = new Set(liveSecrets(outcome.state));
      await discard(liveSecrets(before).filter((id) => !live.has(id)));
    } else if (outcome.kind !== 'unknown') await discard([sealedLlm.secret_id, sealedOcr.secret_id]);
    return outcome;
  };
};

const revoking =
  ({ store, objects }: SavedConfigDeps): SavedConfigs['revoke'] =>
  async (configId, meta) => {
    const { handle, stateOf } = configStreams(store);
    const { latest } = await stateOf(configId);
    const outcome = await handle(configId, { type: 'RevokeConfig', meta }, latest?.tenant_id ?? null);
    if (outcome.kind === 'done' && outcome.state.latest !== null)
      for (const id of liveSecrets({ latest: outcome.state.latest, revoked: false }))
        await objects.remove(secretObjectKey(id));
    return outcome;
  };

/** Settings in the form of a request: what is null there is left out here. */
const channelOf = (settings: ChannelSettings | null, api_key: string | undefined): ModelChannel => {
  const { provider_model, api_base, max_tokens, temperature, num_retries } = settings ?? NO_SETTINGS;
  const named = { provider_model, api_base, max_tokens, temperature, num_retries };
  const present = Object.entries(named).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(present), api_key };
};

const NO_SETTINGS = settingsOf({}, null);

type OpenedKey =
  | { readonly kind: 'key'; readonly key: string | undefined }
  /** A newer version may have taken its place. */
  | { readonly kind: 'gone' }
  | WorkProblem;

const opening =
  ({ objects, box }: SavedConfigDeps) =>
  async (settings: ChannelSettings | null, tenant_id: string): Promise<OpenedKey> => {
    const secret_id = settings?.secret_id ?? null;
    if (secret_id === null) return { kind: 'key', key: undefined };
    if (box === undefined)
      return notConfigured('The own key of this config cannot be opened: this service has no secret for it.');
    const sealed = await getOrAside(objects, secretObjectKey(secret_id));
    if (sealed === undefined) return { kind: 'gone' };
    const opened = box.open(sealed, { tenant_id, secret_id });
    if (opened.kind === 'opened') return { kind: 'key', key: opened.text };
    return notConfigured(
      opened.kind === 'unknown_key'
        ? 'The own key of this config was encrypted with a secret that this service was not given.'
        : 'The own key of this config is damaged: publish it again.',
    );
  };

const resolving = (deps: SavedConfigDeps): SavedConfigs['resolve'] => {
  const open = opening(deps);
  const once = async (...[configId, tenantId, own]: Parameters<SavedConfigs['resolve']>) => {
    const { latest, revoked } = await configStreams(deps.store).stateOf(configId);
    if (latest === null || revoked || latest.tenant_id !== tenantId) return configNotFound();
    const keys: Partial<Record<ChannelName, string | undefined>> = {};
    for (const channel of ['llm', 'ocr'] as const) {
      const opened = own[channel]
        ? ({ kind: 'key', key: undefined } as const)
        : await open(latest[channel], tenantId);
      if (opened.kind !== 'key') return opened;
      keys[channel] = opened.key;
    }
    const [llm, ocr] = [channelOf(latest.llm, keys.llm), channelOf(latest.ocr, keys.ocr)];
    return { kind: 'config', version: latest, llm, ocr } as const;
  };
  return async (...asked) => {
    const first = await once(...asked);
    const answer = first.kind === 'gone' ? await once(...asked) : first;
    return answer.kind === 'gone'
      ? notConfigured('The own key of this config is not in the object storage: publish it again.')
      : answer;
  };
};

/** Saved configs: versions in the log, their keys sealed in object storage. */
export const savedConfigs = (deps: SavedConfigDeps): SavedConfigs => ({
  publish: publishing(deps),
  revoke: revoking(deps),
  resolve: resolving(deps),
});

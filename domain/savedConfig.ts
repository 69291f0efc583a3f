import { z } from 'zod';
import { settingMembers } from '@quire/engine/ports/extractionEngine';
import { modelNamed } from '@quire/engine/ports/modelProvider';
import {
  accept,
  type BareCommand,
  type Command,
  type Decider,
  event,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';
import { reviewPolicy } from './review.ts';
import {
  type Check,
  checks,
  type DuplicatesRule,
  duplicatesRule,
  type Lookup,
  lookups,
} from './rules/checks.ts';
import { mergedTags, tagged, type Tags } from './kernel/tags.ts';

/** A model and how it is asked. Its key lies sealed in object storage, under `secret_id`; never here. */
const channelSettings = z.strictObject({
  /** `<provider>/<model>`. */
  provider_model: z.string().nullable(),
  api_base: z.string().nullable(),
  max_tokens: z.int().min(1).nullable(),
  /** 0.0 to 2.0. */
  temperature: z.number().min(0).max(2).nullable(),
  num_retries: z.int().min(0).nullable(),
  secret_id: z.string().nullable(),
  /** For people; null for a key that is too short to show any of it. */
  api_key_last4: z.string().nullable(),
});

export type ChannelSettings = z.output<typeof channelSettings>;

/** `balanced`, an old name of `standard`, is published as `standard`. */
export const configMode = z.enum(['fast', 'standard', 'robust']);

/** Settings that a saved config may have; null and left out say nothing. */
const savedSettings = z.object({
  /** 0.0 to 1.0; left out by releases that gave every value. */
  min_confidence: settingMembers.min_confidence.nullable().optional(),
  /** What an extraction model is asked for; left out by releases that asked it for all. */
  models_for: settingMembers.models_for.nullable().optional(),
  /** Left out by releases that gave what models told and what stands nowhere. */
  require_grounding: settingMembers.require_grounding.nullable().optional(),
  /** Left out by releases in which nobody looked at results. */
  review: reviewPolicy.nullable().optional(),
});

export type SavedSettings = Readonly<z.output<typeof savedSettings>>;

/** A version, complete in itself. Versions count from 1; the latest is the one that is used. */
const configPublished = event('ConfigPublished', {
  config_id: z.string(),
  version: z.int().min(1),
  tenant_id: tenantId,
  name: z.string().nullable(),
  schema: z.record(z.string(), z.json()).nullable(),
  mode: configMode.nullable(),
  artifact_id: z.string().nullable(),
  ...savedSettings.shape,
  /** What has to be true of results; left out by releases that judged nothing. */
  rules: z.record(z.string(), z.json()).nullable().optional(),
  llm: channelSettings.nullable(),
  ocr: channelSettings.nullable(),
  published_at: instant,
  published_by: z.string(),
  ...tagged,
});

export type ConfigVersion = z.output<typeof configPublished>['data'];

/** What a config says of each result. A request says nothing of it. */
export interface SavedRules {
  readonly checks?: readonly Check[] | null | undefined;
  readonly lookups?: readonly Lookup[] | null | undefined;
  readonly duplicates?: DuplicatesRule | null | undefined;
}

/** Rules lie beside the log as one text. */
const ruleSet = z.object({
  checks: checks.optional(),
  lookups: lookups.optional(),
  duplicates: duplicatesRule.optional(),
});

const keptCheck = ({ name, expression, message }: Check) =>
  message === undefined ? { name, expression } : { name, expression, message };

const keptLookup = ({ field, table_id, column, min_score }: Lookup) =>
  min_score === undefined ? { field, table_id, column } : { field, table_id, column, min_score };

export const keptRules = ({ checks, lookups, duplicates }: SavedRules): Pick<ConfigVersion, 'rules'> => {
  const rules: NonNullable<ConfigVersion['rules']> = {};
  if (checks != null) rules['checks'] = checks.map(keptCheck);
  if (lookups != null) rules['lookups'] = lookups.map(keptLookup);
  if (duplicates != null) rules['duplicates'] = { values: [...duplicates.values] };
  return Object.keys(rules).length === 0 ? {} : { rules };
};

/** The rules of a config, each of them; those that it does not have are null. */
export const savedRulesOf = ({ rules }: Pick<ConfigVersion, 'rules'>) => {
  const { checks = null, lookups = null, duplicates = null } = rules == null ? {} : ruleSet.parse(rules);
  return { checks, lookups, duplicates };
};

/** The settings of a config, each of them; those that earlier releases left out are null. */
export const savedSettingsOf = ({
  min_confidence = null,
  models_for = null,
  require_grounding = null,
  review = null,
}: SavedSettings) => ({ min_confidence, models_for, require_grounding, review });

/** The last event of its stream. */
const configRevoked = event('ConfigRevoked', {
  config_id: z.string(),
  tenant_id: tenantId,
  revoked_at: instant,
});

export const savedConfigEvent = z.discriminatedUnion('type', [configPublished, configRevoked]);

type SavedConfigEvent = z.output<typeof savedConfigEvent>;

/** A channel of a version to publish. null: there is none from now on; undefined: the one before stays. */
export type ChannelChange = ChannelSettings | null | undefined;

/** A version to publish: complete, but that channels, and keys of channels, may stay as they are. */
export type PublishConfig = Command<
  'PublishConfig',
  Omit<ConfigVersion, 'version' | 'published_at' | 'published_by' | 'llm' | 'ocr'> & {
    readonly llm: ChannelChange;
    readonly ocr: ChannelChange;
    /** True: a version of a config that exists. False: the first version of a new one. */
    readonly update: boolean;
  }
>;

type RevokeConfig = BareCommand<'RevokeConfig'>;

export type SavedConfigCommand = PublishConfig | RevokeConfig;

interface SavedConfigRejection {
  readonly code: 'config_not_found';
}

interface SavedConfigState {
  /** The latest version; null before the first. Also after a revocation. */
  readonly latest: ConfigVersion | null;
  readonly revoked: boolean;
}

const NOT_FOUND = { code: 'config_not_found' } as const;

/**
 * The channel that the version before has, where the next one says nothing of it; or with the key that the
 * version before has, where it names none itself and asks the same model at the same address: a key goes
 * nowhere but where it was published for.
 */
const withKept = (next: ChannelChange, before: ChannelSettings | null | undefined) => {
  if (next === undefined) return before ?? null;
  if (next === null || next.secret_id !== null || before === null || before === undefined) return next;
  if (next.provider_model !== before.provider_model || next.api_base !== before.api_base) return next;
  const { secret_id, api_key_last4 } = before;
  return { ...next, secret_id, api_key_last4 };
};

const publish = ({ latest, revoked }: SavedConfigState, { data, meta }: PublishConfig) => {
  const { update, ...wanted } = data;
  const isThere = latest !== null && !revoked && latest.tenant_id === wanted.tenant_id;
  if (update ? !isThere : latest !== null) return reject(NOT_FOUND);
  const version: ConfigVersion = {
    ...wanted,
    llm: withKept(wanted.llm, latest?.llm),
    ocr: withKept(wanted.ocr, latest?.ocr),
    version: (latest?.version ?? 0) + 1,
    published_at: meta.now,
    published_by: meta.actor.key_id,
  };
  return accept({ type: 'ConfigPublished' as const, data: version });
};

export type SavedConfigKind = StreamKind<
  SavedConfigState,
  SavedConfigCommand,
  SavedConfigEvent,
  SavedConfigRejection
>;

/** A config belongs to the tenant that it was first published for, and stays revoked. */
export const savedConfig: Decider<SavedConfigKind> = {
  initialState: { latest: null, revoked: false },
  decide: (state, command) => {
    if (command.type === 'PublishConfig') return publish(state, command);
    if (state.latest === null) return reject(NOT_FOUND);
    if (state.revoked) return accept();
    const { config_id, tenant_id } = state.latest;
    return accept({ type: 'ConfigRevoked', data: { config_id, tenant_id, revoked_at: command.meta.now } });
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'ConfigPublished':
        return { ...state, latest: event.data };
      case 'ConfigRevoked':
        return { ...state, revoked: true };
    }
  },
};

/** The secrets that a config still needs: those of its latest version, none once it is revoked. */
export const liveSecrets = ({ latest, revoked }: SavedConfigState): readonly string[] =>
  latest === null || revoked ? [] : secretsOf(latest);

/** The secrets that a version names. */
const secretsOf = ({ llm, ocr }: ConfigVersion): readonly string[] =>
  [llm?.secret_id, ocr?.secret_id].filter((id) => typeof id === 'string');

export const savedConfigStream = (configId: string): string => `config-${configId}`;

/** A channel as it is used, with its key opened. `undefined`, null and empty text are absent alike. */
export interface OverridableChannel {
  readonly provider_model?: string | null | undefined;
  readonly api_key?: string | null | undefined;
  readonly api_base?: string | null | undefined;
  readonly max_tokens?: number | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly num_retries?: number | null | undefined;
}

/** What a saved config says, or a request says inline. */
interface Overridable<Mode = string> extends SavedSettings {
  /** A JSON Schema, or its text where it came as text. */
  readonly schema?: unknown;
  readonly mode?: Mode | null | undefined;
  readonly artifact_id?: string | null | undefined;
  readonly tags?: Readonly<Tags> | undefined;
  readonly llm?: OverridableChannel | null | undefined;
  readonly ocr?: OverridableChannel | null | undefined;
}

/** A channel whose absent members are undefined. */
export interface MergedChannel {
  readonly provider_model: string | undefined;
  readonly api_key: string | undefined;
  readonly api_base: string | undefined;
  readonly max_tokens: number | undefined;
  readonly temperature: number | undefined;
  readonly num_retries: number | undefined;
  /** Inline members that name a place which the config's key is not for, where no other key goes with them. */
  readonly misplaced: readonly ('provider_model' | 'api_base')[];
}

type MergedSettings = {
  readonly [Member in keyof SavedSettings]-?: Exclude<SavedSettings[Member], null> | undefined;
};

interface Merged<Mode = string> extends MergedSettings {
  readonly schema: unknown;
  readonly mode: Mode | undefined;
  readonly artifact_id: string | undefined;
  /** By name: those of a request, then those of the config. */
  readonly tags: Tags | undefined;
  readonly llm: MergedChannel;
  readonly ocr: MergedChannel;
}

const present = <Value>(value: Value): Exclude<Value, null | undefined> | undefined =>
  value === undefined || value === null || value === ''
    ? undefined
    : (value as Exclude<Value, null | undefined>);

const first = <Value>(inline: Value, saved: Value) => present(inline) ?? present(saved);

/** Whether the request asks the provider that the config names; by one name, whatever alias was used. */
const sameProvider = (saved: OverridableChannel, inline: OverridableChannel): boolean => {
  const asked = present(inline.provider_model);
  if (asked === undefined) return true;
  const named = present(saved.provider_model);
  const provider = named === undefined ? undefined : modelNamed(named)?.provider;
  return provider !== undefined && modelNamed(asked)?.provider === provider;
};

/** The address that a channel asks: one of the config belongs to the config's provider. */
const baseOf = (saved: OverridableChannel, inline: OverridableChannel): string | undefined =>
  present(inline.api_base) ?? (sameProvider(saved, inline) ? present(saved.api_base) : undefined);

/**
 * The config's key only for the provider and the address that it was published for: a user of the
 * config may not have its key sent elsewhere.
 */
const keyOf = (saved: OverridableChannel, inline: OverridableChannel): string | undefined => {
  const own = present(inline.api_key);
  if (own !== undefined) return own;
  const stays = sameProvider(saved, inline) && baseOf(saved, inline) === present(saved.api_base);
  return stays ? present(saved.api_key) : undefined;
};

const misplacedIn = (saved: OverridableChannel, inline: OverridableChannel): MergedChannel['misplaced'] => {
  if (present(saved.api_key) === undefined || keyOf(saved, inline) !== undefined) return [];
  const base = present(inline.api_base);
  return [
    ...(sameProvider(saved, inline) ? [] : (['provider_model'] as const)),
    ...(base === undefined || base === present(saved.api_base) ? [] : (['api_base'] as const)),
  ];
};

const channelOf = (saved: OverridableChannel, inline: OverridableChannel): MergedChannel => ({
  provider_model: first(inline.provider_model, saved.provider_model),
  api_key: keyOf(saved, inline),
  api_base: baseOf(saved, inline),
  max_tokens: first(inline.max_tokens, saved.max_tokens),
  temperature: first(inline.temperature, saved.temperature),
  num_retries: first(inline.num_retries, saved.num_retries),
  misplaced: misplacedIn(saved, inline),
});

/**
 * A saved config with what a request says inline, field by field: inline, then the config; what neither
 * says is undefined, for an artifact or the defaults to say. Keys and addresses follow the provider.
 */
export const overriddenBy = <Mode = string>(
  saved: Overridable<Mode>,
  inline: Overridable<Mode>,
): Merged<Mode> => ({
  schema: first(inline.schema, saved.schema),
  mode: present(inline.mode) ?? present(saved.mode),
  artifact_id: first(inline.artifact_id, saved.artifact_id),
  min_confidence: first(inline.min_confidence, saved.min_confidence),
  models_for: present(inline.models_for) ?? present(saved.models_for),
  require_grounding: first(inline.require_grounding, saved.require_grounding),
  review: first(inline.review, saved.review),
  tags: mergedTags(inline.tags, saved.tags),
  llm: channelOf(saved.llm ?? {}, inline.llm ?? {}),
  ocr: channelOf(saved.ocr ?? {}, inline.ocr ?? {}),
});

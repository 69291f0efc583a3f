import type { BareCommand, Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { ChannelSettings, ConfigVersion, SavedConfigEvent } from './events.ts';

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

export type RevokeConfig = BareCommand<'RevokeConfig'>;

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

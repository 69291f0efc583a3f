import {
  apiKey,
  apiKeyEvent,
  type ApiKeyKind,
  type ApiKeyState,
  apiKeyStream,
  type IssueApiKey,
} from '../../domain/apiKey.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { deterministicEventId } from '../../domain/kernel/chain.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import { type HandlerOptions, streamsOf } from '../writer/commandHandler.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import {
  rateLimits,
  rateLimitsEvent,
  type RateLimitsKind,
  rateLimitsStream,
} from '../../domain/rateLimits.ts';
import {
  keptDays,
  type KeptDays,
  type OwnDays,
  type Retention,
  TENANT_RETENTION_STREAM,
  tenantRetention,
  tenantRetentionEvent,
  type TenantRetentionKind,
} from '../../domain/retention.ts';
import {
  type BillingDetails,
  billingDetails,
  billingDetailsCodec,
  type BillingDetailsKind,
  billingDetailsStream,
  type PlacedDetails,
} from '../../domain/billingDetails.ts';
import { afterErasure, topUp, topUpCodec, type TopUpKind, topUpStream } from '../../domain/topUp.ts';
import { withSealed } from '../writer/vault.ts';
import { lastErasureIn } from './eraseTenant.ts';
import { withTags } from '../../domain/kernel/tags.ts';

/** The stored form of a key: everything but the key. */
export type KeyRecord = IssueApiKey['data'];

export interface ApiKeys {
  /** Opens the tenant's account first, so that a tenant exists from its first key. */
  issue(key: Omit<KeyRecord, 'replaces'>, meta: CommandMeta): Promise<Outcome<ApiKeyKind>>;
  /** Issues `next` with the tags of `keyId`, and lets that run out at `expiresAt`. The outcome is of the old key. */
  rotate(keyId: string, rotation: KeyRotation, meta: CommandMeta): Promise<Outcome<ApiKeyKind>>;
  revoke(keyId: string, meta: CommandMeta): Promise<Outcome<ApiKeyKind>>;
  /** From the log. `key` null: there is no such key. */
  stateOf(keyId: string): Promise<ApiKeyState>;
}

interface KeyRotation {
  readonly next: Omit<KeyRecord, 'replaces'>;
  readonly expiresAt: string;
}

interface ApiKeysDeps {
  readonly store: EventStore;
  readonly writer: AccountWriter;
  readonly options?: HandlerOptions;
}

const keyRules = { decider: apiKey, codec: eventCodec(apiKeyEvent), streamOf: apiKeyStream };

export const apiKeys = ({ store, writer, options }: ApiKeysDeps): ApiKeys => {
  const { handle: run, stateOf } = streamsOf<ApiKeyKind>(keyRules, store, options);
  const issueAs = (key: KeyRecord, meta: CommandMeta) =>
    run(key.key_id, { type: 'IssueApiKey', data: key, meta }, key.tenant_id);

  return {
    issue: async (key, meta) => {
      const opened = await openAccount(writer, key.tenant_id, meta);
      return opened ?? issueAs({ ...key, replaces: null }, meta);
    },
    rotate: async (keyId, { next, expiresAt }, meta) => {
      const old = await stateOf(keyId);
      if (old.key === null || old.revoked || old.rotated)
        return { kind: 'rejected', rejection: { code: 'key_not_found' }, state: old };
      const issued = await issueAs({ ...next, ...withTags(old.key.tags), replaces: keyId }, meta);
      if (issued.kind !== 'done') return issued;
      const data = { replaced_by: next.key_id, expires_at: expiresAt };
      const rotated = await run(keyId, { type: 'RotateApiKey', data, meta }, old.key.tenant_id);
      // Another rotation or a revocation came first: the new key must not outlive it.
      if (rotated.kind === 'rejected')
        await run(next.key_id, { type: 'RevokeApiKey', meta: derived(meta) }, next.tenant_id);
      return rotated;
    },
    revoke: async (keyId, meta) => {
      const { key } = await stateOf(keyId);
      return run(keyId, { type: 'RevokeApiKey', meta }, key?.tenant_id ?? null);
    },
    stateOf,
  };
};

const derived = (meta: CommandMeta): CommandMeta => ({
  ...meta,
  command_id: deterministicEventId('revoke', meta.command_id, 0),
});

/** undefined when the account is open; else why the key cannot be issued now. */
const openAccount = async (
  writer: AccountWriter,
  tenantId: string,
  meta: CommandMeta,
): Promise<Outcome<ApiKeyKind> | undefined> => {
  const opened = await writer.execute({ type: 'OpenAccount', data: { tenant_id: tenantId }, meta });
  if (opened.kind === 'done') return undefined;
  if (opened.kind !== 'rejected') return opened;
  throw new Error(`account ${tenantId} cannot be opened: ${opened.rejection.code}`);
};

export type RateLimitCommands = ReturnType<typeof rateLimitCommands>;

const limitRules = { decider: rateLimits, codec: eventCodec(rateLimitsEvent), streamOf: rateLimitsStream };

/** Tenants' own rate limits. */
export const rateLimitCommands = (store: EventStore, options?: HandlerOptions) => {
  const { handle, stateOf } = streamsOf<RateLimitsKind>(limitRules, store, options);
  return {
    execute: (command: RateLimitsKind['command']) => {
      const { tenant_id } = command.data;
      return handle(tenant_id, command, tenant_id);
    },
    /** From the log. */
    stateOf,
  };
};

export type RetentionCommands = ReturnType<typeof retentionCommands>;

const keptRules = {
  decider: tenantRetention,
  codec: eventCodec(tenantRetentionEvent),
  streamOf: () => TENANT_RETENTION_STREAM,
};

/** How long things are kept: days of tenants, and of the installation where they have none. All from the log. */
export const retentionCommands = (store: EventStore, installation: Retention, options?: HandlerOptions) => {
  const { handle, stateOf } = streamsOf<TenantRetentionKind>(keptRules, store, options);
  return {
    installation,
    /** Replaces all days of a tenant. */
    set: (tenant_id: string, days: OwnDays, meta: CommandMeta) =>
      handle(tenant_id, { type: 'SetRetention', data: { tenant_id, days, installation }, meta }, tenant_id),
    kept: async (): Promise<KeptDays> => keptDays(installation, await stateOf('')),
    /** The settings of all tenants. */
    state: () => stateOf(''),
  };
};

export type BillingDetailsCommands = ReturnType<typeof billingDetailsCommands>;

const detailRules = {
  decider: billingDetails,
  codec: billingDetailsCodec,
  streamOf: billingDetailsStream,
};

/** Who tenants are on their statements and receipts. From the log: with tokens in the place of texts. */
export const billingDetailsCommands = (store: EventStore, options?: HandlerOptions) => {
  const { handle, stateOf } = streamsOf<BillingDetailsKind>(detailRules, store, options);
  return {
    /** Replaces all details of a tenant. */
    set: async (tenant_id: string, details: BillingDetails, meta: CommandMeta) => {
      const place = { tenant_id, stream: billingDetailsStream(tenant_id) };
      const data = { tenant_id, ...(await withSealed(store, place, details)) };
      return handle(tenant_id, { type: 'SetBillingDetails', data, meta }, tenant_id);
    },
    stateOf,
    /** All settings of a tenant, oldest first. */
    settings: async (tenant_id: string): Promise<readonly PlacedDetails[]> => {
      const settings: PlacedDetails[] = [];
      for await (const recorded of store.read(billingDetailsStream(tenant_id))) {
        const { legal_name, address, vat_id, billing_email } = billingDetailsCodec.decode(recorded).data;
        settings.push({
          position: recorded.position,
          details: { legal_name, address, vat_id, billing_email },
        });
      }
      return settings;
    },
  };
};

export type TopUpCommands = ReturnType<typeof topUpCommands>;

const topUpRules = { decider: topUp, codec: topUpCodec, streamOf: topUpStream };

/** A consent as a caller wants it. */
export type TopUpCommand = Omit<Extract<TopUpKind['command'], { type: 'SetTopUp' }>['data'], 'erased_at'>;
type TopUpTold = Omit<Extract<TopUpKind['command'], { type: 'TellTopUp' }>['data'], 'erased_at'>;

/** Tenants' consents to top-ups. From the log: with tokens in the place of who pays, and without what was erased. */
export const topUpCommands = (store: EventStore, options?: HandlerOptions) => {
  const { handle, stateOf } = streamsOf<TopUpKind>(topUpRules, store, options);
  const erasedAt = lastErasureIn(store);
  const handled = async (command: TopUpKind['command'], erased_at: string | null) => {
    const { tenant_id } = command.data;
    const outcome = await handle(tenant_id, command, tenant_id);
    return outcome.kind === 'done' ? { ...outcome, state: afterErasure(outcome.state, erased_at) } : outcome;
  };
  return {
    set: async (wanted: TopUpCommand, meta: CommandMeta) => {
      const { tenant_id } = wanted;
      const erased_at = await erasedAt(tenant_id);
      const sealed = await withSealed(store, { tenant_id, stream: topUpStream(tenant_id) }, wanted);
      return handled({ type: 'SetTopUp', data: { ...sealed, erased_at }, meta }, erased_at);
    },
    /** What became of one that was due. */
    tell: async (told: TopUpTold, meta: CommandMeta) => {
      const erased_at = await erasedAt(told.tenant_id);
      return handled({ type: 'TellTopUp', data: { ...told, erased_at }, meta }, erased_at);
    },
    stateOf: async (tenantId: string) => afterErasure(await stateOf(tenantId), await erasedAt(tenantId)),
  };
};

import { Map as ImmutableMap } from 'immutable';
import { z } from 'zod';
import { instant, tenantId } from './kernel/amounts.ts';
import { eventCodec } from './kernel/codec.ts';
import type { EventStore } from './ports/log.ts';
import { accept, type Command, type Decider, event, type StreamKind } from './kernel/decider.ts';

/**
 * What a tenant's people wrote and sent up to this event is gone, or about to be: files, results, examples, artifacts,
 * names, notes. Its money, pages and times stay.
 */
const tenantErased = event('TenantErased', { tenant_id: tenantId, erased_at: instant });

/** Nothing of it was left, long enough after it for work that ran then to have ended. */
const tenantErasureEnded = event('TenantErasureEnded', { tenant_id: tenantId, ended_at: instant });

export const erasureEvent = z.discriminatedUnion('type', [tenantErased, tenantErasureEnded]);
export type ErasureEvent = z.output<typeof erasureEvent>;

/** Tenants whose erasing has not ended. */
export interface ErasuresState {
  readonly open: ReadonlyMap<string, string>;
}

/** Erases what the tenant has now. Again later: what came since. */
type EraseTenant = Command<'EraseTenant', { readonly tenant_id: string }>;
type EndErasure = Command<'EndErasure', { readonly tenant_id: string; readonly erased_at: string }>;

export type ErasuresKind = StreamKind<ErasuresState, EraseTenant | EndErasure, ErasureEvent, never>;

/** All erasures of tenants, in one stream: they are rare, and the sweeper that finishes them has to find them. */
export const ERASURES_STREAM = 'erasures';

export const erasureCodec = eventCodec(erasureEvent);

/** Erasing is always taken; it ends once, and not where the tenant was erased again meanwhile. */
export const erasures: Decider<ErasuresKind> = {
  initialState: { open: new Map() },
  decide: ({ open }, { type, data, meta }) => {
    const { tenant_id } = data;
    if (type === 'EraseTenant')
      return accept({ type: 'TenantErased', data: { tenant_id, erased_at: meta.now } });
    return open.get(tenant_id) === data.erased_at
      ? accept({ type: 'TenantErasureEnded', data: { tenant_id, ended_at: meta.now } })
      : accept<ErasureEvent>();
  },
  evolve: ({ open }, { type, data }) => {
    const after = new Map(open);
    if (type === 'TenantErased') after.set(data.tenant_id, data.erased_at);
    else after.delete(data.tenant_id);
    return { open: after };
  },
};

/** What a tenant was erased of: everything up to `position`. */
export interface Erasure {
  readonly tenant_id: string;
  readonly erased_at: string;
  readonly position: bigint;
}

/** Erasures that have not ended: `open` has the times of those that the stream says. It is read back to the oldest. */
export const openErasures = async (
  store: Pick<EventStore, 'read'>,
  open: ReadonlyMap<string, string>,
): Promise<readonly Erasure[]> => {
  const found = new Map<string, Erasure>();
  if (open.size === 0) return [];
  for await (const recorded of store.read(ERASURES_STREAM, { direction: 'backwards' })) {
    const { type, data } = erasureCodec.decode(recorded);
    const { tenant_id } = data;
    if (type !== 'TenantErased' || open.get(tenant_id) !== data.erased_at || found.has(tenant_id)) continue;
    found.set(tenant_id, { ...data, position: recorded.position });
    if (found.size === open.size) break;
  }
  return [...found.values()];
};

/** The last erasure of each tenant, from the log; `isOpen`: it has not ended. */
export const erasuresIn = async (
  store: Pick<EventStore, 'read'>,
): Promise<ReadonlyMap<string, Erasure & { readonly isOpen: boolean }>> => {
  const found = new Map<string, Erasure & { readonly isOpen: boolean }>();
  for await (const recorded of store.read(ERASURES_STREAM)) {
    const { type, data } = erasureCodec.decode(recorded);
    const { tenant_id } = data;
    if (type === 'TenantErased') found.set(tenant_id, { ...data, position: recorded.position, isOpen: true });
    else {
      const erasure = found.get(tenant_id);
      if (erasure !== undefined) found.set(tenant_id, { ...erasure, isOpen: false });
    }
  }
  return found;
};

/** When the data of each tenant were erased last, as a state that goes on with the stream of erasures. */
export const lastErasures = {
  initialState: ImmutableMap<string, string>(),
  evolve: (last: ImmutableMap<string, string>, { type, data }: ErasureEvent): ImmutableMap<string, string> =>
    type === 'TenantErased' ? last.set(data.tenant_id, data.erased_at) : last,
};

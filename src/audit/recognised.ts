import { createHash } from 'node:crypto';
import { marginLotDays, marginUses } from '../../projections/recognition.ts';
import { noSums } from '../../projections/engine/table.ts';
import {
  accountOf,
  type AuditedEvent,
  type AuditedEventOf,
  byType,
  type Emit,
  type ExpectedSum,
  keptRows,
} from './auditedEvent.ts';
import { type MarginBook, type Moves, type Parcel, standOf } from './lots.ts';

/** The text key of an event's entry in the journal, and what it is about. */
export const entryOf = (event: AuditedEvent): { readonly kind: string; readonly entry_id: string } => {
  let entry = { kind: 'use', entry_id: '' };
  const say = (kind: string, entry_id: string): void => void (entry = { kind, entry_id });
  byType({
    CreditsGranted: ({ data }) => say('sale', data.grant_id),
    SaleDetailsAdded: ({ data }) => say('sale_details', data.grant_id),
    SaleRateBooked: ({ data }) =>
      say(data.previous_rate === null ? 'rate' : 'rate_correction', data.grant_id),
    CreditsRefunded: ({ data }) => say(data.dispute === undefined ? 'refund' : 'dispute', data.refund_id),
    DisputeChanged: ({ data }) => say('dispute', data.refund_id),
    RefundReversed: ({ data }) => say('reversal', data.reversal_id),
    CreditsAdjusted: ({ data }) => say('adjustment', data.adjustment_id),
    CreditsTransferredIn: ({ data }) => say('transfer', data.transfer_id),
  })(event);
  return entry;
};

const NO_STAND: ReturnType<typeof standOf> = { credits: 0n, paid: 0n, deferred: 0n };

const lotDayRows = (emit: Emit) =>
  keptRows<typeof marginLotDays, ExpectedSum<typeof marginLotDays>>(marginLotDays, emit);

/** The row of a lot and a day, which begins with nothing. */
const rowOfDay = (
  lotDays: ReturnType<typeof lotDayRows>,
  of: {
    readonly tenant_id: string;
    readonly lot_id: string;
    readonly day: string;
    readonly currency: string;
  },
) =>
  lotDays.at(`${of.tenant_id} ${of.lot_id} ${of.day}`, () => ({ ...noSums(marginLotDays.columns), ...of }));

/** What left a tenant is the other's, as lots that begin then. */
const parcelNotes =
  (lotDays: ReturnType<typeof lotDayRows>) =>
  (event: AuditedEvent, day: string, parcels: readonly Parcel[]): void => {
    if (event.type !== 'CreditsTransferredIn' && event.type !== 'CreditsTransferredOut') return;
    const isLeaving = event.type === 'CreditsTransferredOut';
    const tenant_id = isLeaving ? event.data.to_tenant_id : (accountOf(event.stream) ?? '');
    const sign = isLeaving ? 1n : -1n;
    for (const [n, { currency, credits, value }] of parcels.entries()) {
      const lot_id = `${event.data.transfer_id}:${String(n).padStart(6, '0')}`;
      const row = rowOfDay(lotDays, { tenant_id, lot_id, day, currency });
      row.lots += sign;
      row.credits += sign * credits;
      row.paid += sign * value.net;
      row.deferred += sign * value.net;
    }
  };

/** Sums by lot and day, and by what the use of a day was for. */
export const recognition = (emit: Emit) => {
  const lotDays = lotDayRows(emit);
  const uses = keptRows<typeof marginUses, ExpectedSum<typeof marginUses>>(marginUses, emit);
  const stands = new Map<MarginBook['lots'][number], ReturnType<typeof standOf>>();
  const noteLots = ({ type }: AuditedEvent, day: string, { tenant: tenant_id, moves, book }: Noted): void => {
    const isTransfer = type === 'CreditsTransferredOut' || type === 'CreditsTransferredIn';
    let atOnce = [...moves.trueUps.values()].reduce((sum, net) => sum + net, 0n);
    for (const lot of book.lots.filter((one) => moves.touched.has(one))) {
      const row = rowOfDay(lotDays, { tenant_id, lot_id: lot.id, day, currency: lot.currency });
      const [before, now] = [stands.get(lot) ?? NO_STAND, standOf(lot)];
      if (before === NO_STAND) row.lots += 1n;
      row.credits += now.credits - before.credits;
      const deferred = now.deferred - before.deferred;
      // Credits of another tenant bring along what was paid for them, also for those that are used on arrival.
      row.paid += isTransfer ? deferred + atOnce : now.paid - before.paid;
      row.deferred += deferred;
      atOnce = 0n;
      stands.set(lot, now);
    }
  };
  const noteUse = (tenant_id: string, day: string, used: Used): void => {
    const { data, position, moves } = used;
    if (data.credits === 0) return;
    const { project_id, operation, billing_type } = data;
    const api_key_id = data.api_key_id ?? '';
    const tags = JSON.stringify(data.tags ?? {});
    const tags_key = tags === '{}' ? '' : createHash('sha256').update(tags).digest('hex');
    const key = [day, tenant_id, project_id, api_key_id, operation, billing_type, tags_key];
    const row = uses.at(JSON.stringify(key), () => ({
      ...noSums(marginUses.columns),
      day,
      tenant_id,
      project_id,
      api_key_id,
      operation,
      billing_type,
      tags_key,
      tags,
      last_position: position,
    }));
    row.last_position = position;
    row.operations += 1n;
    row.pages += BigInt(data.pages - data.free_pages);
    row.credits += BigInt(data.credits);
    for (const { net, fee } of moves.used.values()) {
      row.net += net;
      row.fee += fee;
    }
  };
  return {
    noteLots,
    noteParcels: parcelNotes(lotDays),
    noteUse,
    emitAll: (): void => {
      lotDays.emitAll();
      uses.emitAll();
    },
  };
};

interface Noted {
  readonly tenant: string;
  readonly moves: Moves;
  readonly book: MarginBook;
}

type Used = Pick<AuditedEventOf<'CreditsBurned'>, 'data' | 'position'> & { readonly moves: Moves };

import { type AccountCommand, accountStream, paymentStream } from '../../domain/account/messages.ts';
import { account } from '../../domain/account/account.ts';
import type { AccountState } from '../../domain/account/state.ts';
import { DEFAULT_RATES, DEFAULT_TERMS } from '../../domain/billingConfig.ts';
import { categoryOfStream, EVENT_CATALOGUE, type AnyEvent } from '../../domain/catalogue.ts';
import { CHAIN_START, type ChainLink } from '../../domain/kernel/chain.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { EventFeed, FeedItem } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { encodeEvents } from '../../src/writer/append.ts';
import { charge, hold, meta, NOW, receive, sell } from '../support/money/moneyCommands.ts';

const FEE = asCredits(100);
const CODECS = new Map(
  Object.entries(EVENT_CATALOGUE).map(([category, union]) => [category, eventCodec<AnyEvent>(union)]),
);

/** A log in memory with chains that hold. */
export interface TradedLog extends Pick<EventFeed, 'subscribe'> {
  readonly events: RecordedEvent[];
  /** Decides a command as the service would, and appends what it comes to. */
  readonly execute: (tenant: string, command: AccountCommand) => void;
  readonly stateOf: (tenant: string) => AccountState;
}

const appender = (events: RecordedEvent[]) => {
  const heads = new Map<string, ChainLink>();
  return (stream: string, tenantId: string | null, made: readonly AnyEvent[]): void => {
    const codec = CODECS.get(categoryOfStream(stream));
    if (codec === undefined) throw new Error(stream);
    for (const event of made) {
      const head = heads.get(stream) ?? CHAIN_START;
      const command_id = `${meta.command_id} ${String(events.length)}`;
      const encoding = { stream, tenantId, codec };
      const encoded = encodeEvents(encoding, { events: [event], meta: { ...meta, command_id } }, head);
      const revision = head.nextRevision;
      heads.set(stream, encoded.link);
      for (const one of encoded.events)
        events.push({ ...one, stream, revision, position: BigInt(events.length + 1) });
    }
  };
};

const published = { published_at: NOW, published_by: 'key_1' };
const PRICE = { price_per_1000_credits: '10', tax_basis: 'exclusive', minor_unit_digits: 2 } as const;
const CONFIG = {
  version: 1,
  terms: { ...DEFAULT_TERMS, examples_export_fee_credits: FEE },
  rates: [...DEFAULT_RATES],
  note: null,
  created_at: NOW,
  created_by: 'key_1',
};

/** The command as a caller could have sent it: at the price, rate and fee that were published. */
const priced = (command: AccountCommand): AccountCommand => {
  if (command.type === 'GrantCredits') {
    const { tenant_id: _, fingerprint: __, ...data } = command.data;
    const isUsd = data.currency === 'USD';
    const listed = data.credits - (data.bonus_credits ?? 0);
    const gross = data.gross_amount_minor === null ? null : listed + data.vat_amount_minor;
    const rate = isUsd ? { fx_rate_to_usd: '1', fx_rate_date: NOW.slice(0, 10) } : {};
    const fee = gross === null ? 0 : Math.min(data.provider_fee_minor, gross);
    return sell({ ...data, ...rate, gross_amount_minor: gross, provider_fee_minor: fee });
  }
  if (command.type === 'HoldCredits') {
    const { pages, tenant_id: _, ...data } = command.data;
    const credits_per_page = asCredits(data.billing_type === 'byok' ? 5 : 40);
    return hold(pages, { ...data, credits_per_page, free_pages_allowance: 50 });
  }
  if (command.type === 'ChargeCredits') {
    const { tenant_id: _, fingerprint: __, ...data } = command.data;
    return charge(FEE, { ...data, credits: FEE });
  }
  return command;
};

const requested = (
  tenant_id: string,
  held: Extract<AnyEvent, { type: 'CreditsHeld' }>['data'],
): AnyEvent => ({
  type: 'ExtractionRequested',
  data: {
    extraction_id: held.operation_id,
    tenant_id,
    project_id: 'default',
    task_id: 'default',
    document_id: 'doc_1',
    document_sha256: 'aa',
    mode: 'standard',
    billing_type: held.billing_type,
    model: 'local/default',
    ocr_model: null,
    pages: held.pages,
    hold_id: held.hold_id,
    api_key_id: 'key_1',
    requested_at: NOW,
  },
});

const completed = (
  tenant_id: string,
  burn: Extract<AnyEvent, { type: 'CreditsBurned' }>['data'],
): AnyEvent => ({
  type: 'ExtractionCompleted',
  data: {
    extraction_id: burn.operation_id,
    tenant_id,
    status: 'success',
    pages: burn.pages,
    free_pages: burn.free_pages,
    duration_ms: 1,
    completed_at: NOW,
  },
});

/** A log with a price list, a billing config and exchange rates, to trade on. */
export const tradedLog = (): TradedLog => {
  const events: RecordedEvent[] = [];
  const append = appender(events);
  const states = new Map<string, AccountState>();
  const claims = new Set<string>();
  const stateOf = (tenant: string) => states.get(tenant) ?? account.initialState;
  const entries = ['USD', 'EUR'].map((currency) => ({ ...PRICE, currency }));
  append('priceList', null, [
    { type: 'PriceListPublished', data: { version: 1, entries, note: null, ...published } },
  ]);
  append('billingConfig', null, [{ type: 'BillingConfigPublished', data: CONFIG }]);
  const day = { date: '2026-01-30', base: 'EUR', rates: { USD: '1.1' }, source: 'ecb', published_at: NOW };
  append('fxRates', null, [{ type: 'FxRatesPublished', data: day }]);

  /** False when another tenant has the payment. */
  const claim = (tenant_id: string, command: AccountCommand): boolean => {
    if (command.type !== 'GrantCredits' && command.type !== 'RefundCredits') return true;
    const { provider, provider_txn_id, fingerprint } = command.data;
    const stream = paymentStream(command.data);
    if (claims.has(stream)) return false;
    claims.add(stream);
    const kind = command.type === 'GrantCredits' ? 'sale' : 'refund';
    const claimed = {
      provider,
      provider_txn_id,
      tenant_id,
      kind,
      fingerprint,
      intent: command,
      claimed_at: NOW,
    } as const;
    append(stream, tenant_id, [{ type: 'PaymentClaimed', data: claimed }]);
    return true;
  };

  const aroundWork = (tenant: string, event: AnyEvent): void => {
    if (event.type === 'CreditsHeld')
      append(`extraction-${event.data.operation_id}`, tenant, [requested(tenant, event.data)]);
    if (event.type === 'CreditsBurned' && event.data.hold_id !== null)
      append(`extraction-${event.data.operation_id}`, tenant, [completed(tenant, event.data)]);
  };

  const decide = (tenant: string, command: AccountCommand): void => {
    const decision = account.decide(stateOf(tenant), command);
    if (decision.kind === 'rejected' || decision.events.length === 0) return;
    if (!claim(tenant, command)) return;
    states.set(tenant, decision.events.reduce(account.evolve, stateOf(tenant)));
    append(accountStream(tenant), tenant, decision.events);
    for (const event of decision.events) {
      aroundWork(tenant, event);
      if (event.type !== 'CreditsTransferredOut') continue;
      const { transfer_id, to_tenant_id: tenant_id, credits, created_at: left_at } = event.data;
      decide(tenant_id, receive(credits, transfer_id, { tenant_id, from_tenant_id: tenant, left_at }));
    }
  };

  return {
    events,
    stateOf,
    execute: (tenant, asked) => {
      // What was sent arrives by itself.
      if (asked.type === 'ReceiveCredits') return;
      const own = asked.type === 'SendCredits' && { transfer_id: `${tenant}_${asked.data.transfer_id}` };
      const fitting = priced(asked);
      decide(tenant, { ...fitting, data: { ...fitting.data, ...own, tenant_id: tenant } } as AccountCommand);
    },
    subscribe: async function* (): AsyncGenerator<FeedItem> {
      for (const event of events) yield await Promise.resolve({ kind: 'event', event } as const);
      yield { kind: 'caught_up' };
    },
  };
};

import type { KeyRole } from '../../domain/apiKey/events.ts';
import type { Plan } from '../../domain/account/words.ts';
import type { KeyRecord } from './authenticate.ts';

/** A page of rows and how many there are in all. */
export interface RowPage<Row> {
  readonly items: readonly Row[];
  readonly total: number;
}

export interface BalanceRow {
  readonly tenant_id: string;
  readonly plan: Plan;
  readonly balance_credits: number;
  readonly held_credits: number;
  readonly available_credits: number;
  readonly total_credits_purchased: number;
  readonly total_credits_used: number;
  readonly total_credits_adjusted: number;
  readonly free_pages_used: number;
  readonly free_pages_held: number;
  readonly grants_count: number;
  readonly created_at: string;
  readonly last_activity_at: string;
}

export interface OpenHoldRow {
  readonly hold_id: string;
  readonly credits: number;
  readonly operation: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface GrantRow {
  readonly grant_id: string;
  readonly kind: 'sale' | 'refund';
  readonly credits: number;
  readonly original_grant_id: string | null;
  readonly refunded_credits: number;
  readonly refunded_amount_minor: number;
  readonly currency: string;
  readonly gross_amount_minor: number | null;
  readonly vat_amount_minor: number;
  readonly provider_fee_minor: number;
  readonly net_amount_minor: number | null;
  readonly price_list_version: number | null;
  readonly fx_rate_to_usd: string | null;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly invoice_ref: string | null;
  readonly occurred_at: string;
  readonly created_at: string;
}

export interface UsageRow {
  readonly id: string;
  readonly kind: string;
  readonly operation: string | null;
  readonly category: string | null;
  readonly extraction_mode: string | null;
  readonly billing_type: string | null;
  readonly pages: number;
  readonly free_pages: number;
  readonly credits_per_page: number | null;
  readonly credits_delta: number;
  readonly total_cost_usd: string;
  readonly balance_after: number;
  readonly billing_config_version: number | null;
  readonly project_id: string | null;
  readonly task_id: string | null;
  readonly document_id: string | null;
  readonly job_id: string | null;
  readonly api_key_id: string | null;
  readonly created_at: string;
}

export interface ApiKeyItem {
  readonly key_id: string;
  readonly prefix: string;
  readonly last4: string;
  readonly role: KeyRole;
  readonly name: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

export interface ApiKeyRow extends ApiKeyItem, KeyRecord {
  readonly key_hash: string;
  readonly revoked_at: string | null;
  readonly expires_at: string | null;
  readonly key_id: string;
  readonly role: KeyRole;
}

interface Paged {
  readonly tenant_id: string;
  readonly limit: number;
  readonly offset: number;
}

/** What the routes ask of the read models. They throw when the database cannot be reached. */
export interface Queries {
  readonly balanceOfTenant: (tenantId: string) => Promise<BalanceRow | undefined>;
  readonly openHoldsOfTenant: (tenantId: string) => Promise<readonly OpenHoldRow[]>;
  readonly grantsOfTenant: (query: Paged) => Promise<RowPage<GrantRow>>;
  readonly usageOfTenant: (
    query: Paged & {
      readonly from?: string | undefined;
      readonly to?: string | undefined;
      readonly include_adjustments: boolean;
    },
  ) => Promise<RowPage<UsageRow>>;
  readonly apiKeyByHash: (keyHash: string) => Promise<ApiKeyRow | undefined>;
  readonly apiKeyById: (keyId: string) => Promise<ApiKeyRow | undefined>;
  readonly apiKeysOfTenant: (tenantId: string) => Promise<readonly ApiKeyItem[]>;
  readonly liveAdminKeys: (now: string) => Promise<number>;
}

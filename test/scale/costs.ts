import { readFileSync } from 'node:fs';

/** Prices of an operator, USD. What is shown in the documentation are assumptions. */
export interface Prices {
  readonly vcpu_hour: number;
  /** Block storage, SSD, by GB and month. */
  readonly ssd_gb_month: number;
  readonly object_gb_month: number;
  /** Three machines of 2 vCPU and 8 GB that carry an EventStoreDB cluster, all in. */
  readonly event_store_month: number;
  /** A managed Postgres of 4 vCPU and 16 GB with a standby, without its storage. */
  readonly postgres_month: number;
  readonly redis_month: number;
  /** Traffic to the Internet, by GB. */
  readonly egress_gb: number;
}

/** Assumed list prices of a large public cloud, 2026-11-21. Put in your own. */
export const ASSUMED_PRICES: Prices = {
  vcpu_hour: 0.04,
  ssd_gb_month: 0.1,
  object_gb_month: 0.023,
  event_store_month: 270,
  postgres_month: 400,
  redis_month: 50,
  egress_gb: 0.09,
};

const isPrice = (value: unknown): value is number => typeof value === 'number' && value >= 0;

/** The assumed prices with those of a JSON file over them. Throws when the file names what is no price. */
export const pricesFrom = (path: string | undefined): Prices => {
  if (path === undefined) return ASSUMED_PRICES;
  const own = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(own)) {
    if (!(name in ASSUMED_PRICES))
      throw new Error(`${path}: there is no price ${name}; use ${Object.keys(ASSUMED_PRICES).join(', ')}`);
    if (!isPrice(value)) throw new Error(`${path}: ${name} must be a number of USD from 0`);
  }
  return { ...ASSUMED_PRICES, ...own };
};

/** What a quantity of work needs, measured. */
export interface Needs {
  /** Processor milliseconds for one piece. */
  readonly cpuMs: number;
  /** Stored on SSD for ever, over all copies. */
  readonly ssdBytes: number;
  readonly objectBytes: number;
}

/** Share of a processor that is paid for and used: nobody runs at 100 %. */
export const USED_SHARE = 0.5;

const MS_PER_HOUR = 3_600_000;
const GB = 1e9;

/** USD of one kind each. */
export interface Cost {
  readonly cpu: number;
  readonly ssd: number;
  readonly objects: number;
  readonly total: number;
}

/** USD for so many pieces, kept for so many months; the fixed parts (`fixedMonth`) are not in it. */
export const costOf = (
  { cpuMs, ssdBytes, objectBytes }: Needs,
  { pieces, months }: { readonly pieces: number; readonly months: number },
  prices: Prices,
): Cost => {
  const cpu = ((pieces * cpuMs) / MS_PER_HOUR / USED_SHARE) * prices.vcpu_hour;
  const ssd = ((pieces * ssdBytes) / GB) * months * prices.ssd_gb_month;
  const objects = ((pieces * objectBytes) / GB) * months * prices.object_gb_month;
  return { cpu, ssd, objects, total: cpu + ssd + objects };
};

/** USD a month for what is paid for whether or not anything happens. */
export const fixedMonth = (way: 'embedded' | 'replicas', prices: Prices): number => {
  const processor = prices.vcpu_hour * 730;
  if (way === 'embedded') return 2 * processor;
  return prices.event_store_month + prices.postgres_month + prices.redis_month + 6 * processor;
};

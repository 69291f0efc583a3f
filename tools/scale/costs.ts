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
  /** A language model's million tokens; no part of the service's own cost. */
  readonly model_input_mtok: number;
  readonly model_output_mtok: number;
}

/** Assumed list prices of a large public cloud, 2026-11-21. Put in your own. */
export const ASSUMED_PRICES: Prices = {
  vcpu_hour: 0.04,
  ssd_gb_month: 0.1,
  object_gb_month: 0.023,
  event_store_month: 270,
  postgres_month: 400,
  redis_month: 50,
  model_input_mtok: 0.15,
  model_output_mtok: 0.6,
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

/** What a page costs besides, that was not measured but assumed. */
export const ASSUMED_PAGE = {
  /** Kept in object storage: the document's part and its result. */
  text_bytes: 50_000,
  scan_bytes: 250_000,
  /** Copies of the log on a cluster, and of the read models with a standby. */
  log_copies: 3,
  read_model_copies: 2,
  /** Of a language model that reads it. */
  input_tokens: 1_500,
  output_tokens: 300,
} as const;

/** What of the coefficients costs depend on; times in ms, sizes in bytes. */
export interface CostBasis {
  readonly pageMs: number;
  readonly objectBytes: number;
  /** Events for one page: a document of several pages shares its events. */
  readonly eventsPerPage: number;
  /** Deciding, appending and projecting one event, the database's part included. */
  readonly eventMs: number;
  readonly logBytes: number;
  readonly readModelBytes: number;
  /** Answering the request, for one page. */
  readonly httpMs: number;
}

/** What one event needs, kept on all copies. */
export const eventNeeds = ({ eventMs, logBytes, readModelBytes }: CostBasis): Needs => ({
  cpuMs: eventMs,
  ssdBytes: logBytes * ASSUMED_PAGE.log_copies + readModelBytes * ASSUMED_PAGE.read_model_copies,
  objectBytes: 0,
});

/** What one page needs: its reading, its share of a request, and its events. */
export const pageNeeds = (basis: CostBasis): Needs => {
  const event = eventNeeds(basis);
  return {
    cpuMs: basis.pageMs + basis.httpMs + event.cpuMs * basis.eventsPerPage,
    ssdBytes: event.ssdBytes * basis.eventsPerPage,
    objectBytes: basis.objectBytes,
  };
};

/** USD that a model's provider takes for so many pages. */
export const modelCost = (pages: number, prices: Prices): number =>
  (pages / 1e6) *
  (ASSUMED_PAGE.input_tokens * prices.model_input_mtok +
    ASSUMED_PAGE.output_tokens * prices.model_output_mtok);

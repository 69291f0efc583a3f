import { ASSUMED_PAGE, costOf, eventNeeds, fixedMonth, modelCost, pageNeeds } from './costs.ts';
import type { CostBasis, Prices } from './costs.ts';
import type { Coefficients } from './simulation/coefficients.ts';
import { historyAt, readModelBytes, tenantsAt } from './growth.ts';
import { ringFigures } from './simulation/ring.ts';
import { httpMsOf } from './simulation/scenarios.ts';

/** A table of Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const number = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const ms = (value: number): string => `${number(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;

export const percent = (share: number): string =>
  `${number(share * 100, share > 0 && share < 0.1 ? 1 : 0)} %`;

/** Bytes with a unit that a person reads. */
export const bytes = (value: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  while (value >= 1_000 && at < units.length - 1) {
    value /= 1_000;
    at += 1;
  }
  return `${number(value, value < 10 && at > 0 ? 1 : 0)} ${units[at] ?? ''}`;
};

/** Seconds as a person says them. */
export const span = (seconds: number): string => {
  if (seconds < 120) return `${number(seconds, seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7_200) return `${number(seconds / 60)} min`;
  return seconds < 172_800 ? `${number(seconds / 3_600, 1)} h` : `${number(seconds / 86_400, 1)} days`;
};

const dollars = (value: number): string => `${number(value, value < 10 ? 2 : 0)} $`;

/** Pages of a document of the log that was measured (`tradedWork.ts`), on average. */
const PAGES_EACH = 4.5;

/** Events for one page: those of its document, and its share of all others. */
const eventsPerPage = ({ log }: Coefficients): number =>
  log.events / (PAGES_EACH * (log.by_type['ExtractionRequested']?.count ?? log.events));

const basisOf = (coefficients: Coefficients, kind: 'text' | 'scan'): CostBasis => {
  const { writer, commit, projector, log, pages } = coefficients;
  const { table: tables, index } = readModelBytes(coefficients);
  return {
    pageMs: kind === 'text' ? pages.text_ms : pages.scan_ms,
    objectBytes: kind === 'text' ? ASSUMED_PAGE.text_bytes : ASSUMED_PAGE.scan_bytes,
    eventsPerPage: eventsPerPage(coefficients),
    eventMs:
      writer.turn_ms +
      writer.command_ms +
      commit.append_ms +
      commit.event_ms +
      projector.event_ms +
      projector.database_event_ms,
    logBytes: log.bytes_per_event,
    readModelBytes: tables + index,
    httpMs: httpMsOf(coefficients) / PAGES_EACH,
  };
};

export const costTable = (coefficients: Coefficients, prices: Prices): string => {
  const text = basisOf(coefficients, 'text');
  const year = { pieces: 1e6, months: 12 };
  const rows = [
    ['1 million pages with a text layer', costOf(pageNeeds(text), year, prices)],
    ['1 million scanned pages', costOf(pageNeeds(basisOf(coefficients, 'scan')), year, prices)],
    ['1 million events', costOf(eventNeeds(text), year, prices)],
  ] as const;
  const shown = rows.map(([name, { cpu, ssd, objects, total }]) => [
    name,
    dollars(cpu),
    dollars(ssd),
    dollars(objects),
    `**${dollars(total)}**`,
  ]);
  return [
    table(['kept a year', 'processors', 'SSD, all copies', 'objects', 'together'], shown),
    '',
    `Fixed costs a month: ${dollars(fixedMonth('embedded', prices))} for one machine of 2 ` +
      `cores; ${dollars(fixedMonth('replicas', prices))} for replicas (event store, Postgres, ` +
      'Redis, 6 cores). If a language model reads the pages, its provider charges ' +
      `${dollars(modelCost(1e6, prices))} for a million pages, at ` +
      `${number(ASSUMED_PAGE.input_tokens)} + ${ASSUMED_PAGE.output_tokens} tokens a page.`,
  ].join('\n');
};

export const priceTable = (prices: Prices): string =>
  table(
    ['price', 'USD, assumed'],
    Object.entries(prices).map(([name, value]) => [`\`${name}\``, String(value)]),
  );

export const historyTable = (coefficients: Coefficients): string => {
  const sizes = [1e6, 1e8, 1e9].map((events) => historyAt(coefficients, events));
  const { bytes_per_event, audit_events_per_second, audit_bytes_per_stream } = coefficients.log;
  const { table: tables, index } = readModelBytes(coefficients);
  const rate = coefficients.read_models.rebuild_events_per_second;
  const row = (name: string, coefficient: string, of: (size: (typeof sizes)[number]) => string) => [
    name,
    coefficient,
    ...sizes.map(of),
  ];
  return table(
    ['grows with events', 'coefficient', '10^6', '10^8', '10^9'],
    [
      row('log, one copy', `${number(bytes_per_event)} B an event`, (at) => bytes(at.logBytes)),
      row('read models: tables', `${number(tables)} B an event`, (at) => bytes(at.tableBytes)),
      row('read models: indexes', `${number(index)} B an event`, (at) => bytes(at.indexBytes)),
      row('rebuild of all', `${number(rate)} events/s`, (at) => span(at.rebuildSeconds)),
      row('audit of the log', `${number(audit_events_per_second)} events/s`, (at) => span(at.auditSeconds)),
      row('memory of the audit', `${number(audit_bytes_per_stream)} B a stream`, (at) =>
        bytes(at.auditBytes),
      ),
    ],
  );
};

export const tenantTable = (coefficients: Coefficients): string => {
  const sizes = [1e3, 1e5, 1e6].map((tenants) => tenantsAt(coefficients, tenants));
  const { memory, read_models } = coefficients;
  const balances = read_models.tables.find(({ table: name }) => name === 'balances');
  const each = balances === undefined ? 0 : (balances.table_bytes + balances.index_bytes) / balances.rows;
  const row = (name: string, coefficient: string, of: (size: (typeof sizes)[number]) => string) => [
    name,
    coefficient,
    ...sizes.map(of),
  ];
  return table(
    ['grows with active tenants', 'coefficient', '10^3', '10^5', '10^6'],
    [
      row(
        'accounts in memory, a replica (at most 10,000)',
        `${number(memory.warm_account)} B, ${number(memory.open_hold)} B an open hold`,
        (at) => `${number(at.warmAccounts)}: ${bytes(at.warmBytes)}`,
      ),
      row('keys in memory, a replica (at most 10,000)', `${number(memory.cached_key)} B`, (at) =>
        bytes(at.keyBytes),
      ),
      row('replicas that keep all in memory', '10,000 each, sticky', (at) => number(at.replicasToKeepAll)),
      row('balances', `${number(each)} B a tenant`, (at) => bytes(at.tenants * each)),
    ],
  );
};

export const coldTable = ({ cold_load }: Coefficients): string =>
  table(
    ['an account of', 'events', 'from the log', 'from its snapshot', 'snapshot'],
    cold_load.map(({ kind, events, from_log_ms, from_snapshot_ms, snapshot_bytes }) => [
      kind,
      number(events),
      from_log_ms < 1000 ? ms(from_log_ms) : span(from_log_ms / 1000),
      from_snapshot_ms === null ? 'not saved' : ms(from_snapshot_ms),
      snapshot_bytes === null ? 'too large' : bytes(snapshot_bytes),
    ]),
  );

const TYPES_SHOWN = 12;

export const eventTable = ({ log }: Coefficients): string =>
  table(
    ['event', 'of all', 'data', 'metadata'],
    Object.entries(log.by_type)
      .slice(0, TYPES_SHOWN)
      .map(([type, { count, data, metadata }]) => [
        `\`${type}\``,
        percent(count / log.events),
        `${data} B`,
        `${metadata} B`,
      ]),
  );

const TABLES_SHOWN = 8;

export const readModelTable = ({ read_models: { tables, events } }: Coefficients): string =>
  table(
    ['table', 'rows', 'bytes a row', 'index bytes a row', 'bytes an event'],
    tables
      .filter(({ rows }) => rows > 0)
      .slice(0, TABLES_SHOWN)
      .map((one) => [
        `\`${one.table}\``,
        number(one.rows),
        number(one.table_bytes / one.rows),
        number(one.index_bytes / one.rows),
        number((one.table_bytes + one.index_bytes) / events),
      ]),
  );

export const ringTable = (): string => {
  const rows = [4, 16].flatMap((replicas) =>
    [1, 16, 128, 512].map((places) => {
      const { fullest, moved } = ringFigures(replicas, places, 20_000);
      return [
        String(replicas),
        String(places),
        percent(fullest),
        percent(moved),
        percent(1 / (replicas + 1)),
      ];
    }),
  );
  return table(
    [
      'replicas',
      'places each',
      'fullest replica ÷ average',
      'tenants that move when one is added',
      'the least possible',
    ],
    rows,
  );
};

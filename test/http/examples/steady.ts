/** Members whose value is another at each run, and what an example shows in its place. */
const SHOWN: Readonly<Record<string, unknown>> = {
  api_key: 'quire_t_4bN0xYtWq7RkZ2mLc9VdHs1PgJfUe6Aa_0kX3Zp',
  csrf_token: 'Jm0c7Qv2xR9tYb4KpWz1LhNfDs6UaEgV',
  bytes_free: 21_474_836_480,
  digest: '4d967a1f30b8e0a4cf2f5a5d1c6b1f0a3c2e8d7b69541f0e2a3b4c5d6e7f8091',
  duration_ms: 184,
  median_ms: 184,
  p95_ms: 231,
  expires: '1769850900',
  hash: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  key: 'quire_t_4bN0xYtWq7RkZ2mLc9VdHs1PgJfUe6Aa_0kX3Zp',
  last4: '3Zp9',
  month: '2026-01',
  next_cursor: 'MTlmNGsyLjFjcjhkOSBbMSwiZ3JhbnRzIiwiMWF4eXouOWIyayIsNDEsIjEwMjQiXQ',
  log_digest: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  log_id: '0b1f3c52-6a1e-4c57-9f6a-2d9b7c1e4f10',
  position: '1024',
  end_position: '1024',
  prefix: 'quire_t_4bN0',
  progress: { metric_calls: 4, max_metric_calls: 40 },
  request_id: 'req-01KF9E6Q3M',
  revision: '17',
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  event_id: '5f2b1c86-0c1d-5a7e-9a43-1f0e6b2d7c90',
  signature: '9f2c1e7ab04d5c63',
  upload_url: 'http://127.0.0.1:8080/uploads/doc_01KF9E6Q3MZJ4T8V2X5Y7A9B0C?expires=1769850900',
  uptime_seconds: 3_600,
};

/** Lists that are of other lengths at each run. */
const LISTED: Readonly<Record<string, readonly unknown[]>> = {
  rate_limits: [{ tenant_id: 'acme', bucket: 'heavy', rate_per_second: 5, burst: 20, remaining: 7 }],
};

const ID = /\b([a-z]{2,4})_[0-9A-HJKMNP-TV-Z]{26}\b/g;
const MESSAGE = /\bmsg_[0-9a-f]{32}\b/g;
const TIME = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g;
const DAY = /^20\d\d-\d\d-\d\d$/;
const CONFIG = /\bcfg-[0-9a-z-]+\b/gi;
const ORIGIN = /https?:\/\/127\.0\.0\.1:\d+/g;
const FOLDER = /\/[^\s"]*quire-http-[^\s"/]*/g;
const SHOWN_ID = '01KF9E6Q3MZJ4T8V2X5Y7A9B0C';

/** A UTC day of this run; other days are what the walk chose. */
const isRecent = (day: string): boolean => Math.abs(Date.now() - Date.parse(day)) < 2 * 86_400_000;

const steadyText = (text: string): string =>
  text
    .replace(DAY, (day) => (isRecent(day) ? '2026-01-31' : day))
    .replace(ID, `$1_${SHOWN_ID}`)
    .replace(MESSAGE, 'msg_0c1d5a7e9a431f0e6b2d7c905f2b1c86')
    .replace(CONFIG, 'cfg-01kf9e6q3mzj4t8v2x5y7a9b0c')
    .replace(TIME, '2026-01-31T09:15:00.000Z')
    .replace(ORIGIN, 'http://127.0.0.1:8080')
    .replace(FOLDER, '/var/lib/quire');

/** The same wherever and whenever it was answered: IDs, times, addresses and the like are made one. */
export const steady = (value: unknown): unknown => {
  if (typeof value === 'string') return steadyText(value);
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [name, shown(name, member)]),
  );
};

const shown = (name: string, member: unknown): unknown => {
  if (name in SHOWN && member !== null) return SHOWN[name];
  return name in LISTED && Array.isArray(member) ? LISTED[name] : steady(member);
};

/** Members whose value is another at each run, and what an example shows in its place. */
const SHOWN: Readonly<Record<string, unknown>> = {
  bytes_free: 21_474_836_480,
  duration_ms: 184,
  expires: '1769850900',
  key: 'quire_t_4bN0xYtWq7RkZ2mLc9VdHs1PgJfUe6Aa_0kX3Zp',
  last4: '3Zp9',
  log_id: '0b1f3c52-6a1e-4c57-9f6a-2d9b7c1e4f10',
  position: '1024',
  prefix: 'quire_t_4bN0',
  progress: { metric_calls: 4, max_metric_calls: 40 },
  request_id: 'req-01KF9E6Q3M',
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  event_id: '5f2b1c86-0c1d-5a7e-9a43-1f0e6b2d7c90',
  signature: '9f2c1e7ab04d5c63',
  upload_url: 'http://127.0.0.1:8080/uploads/doc_01KF9E6Q3MZJ4T8V2X5Y7A9B0C?expires=1769850900',
  uptime_seconds: 3_600,
};

const ID = /\b([a-z]{2,4})_[0-9A-HJKMNP-TV-Z]{26}\b/g;
const MESSAGE = /\bmsg_[0-9a-f]{32}\b/g;
const TIME = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g;
const CONFIG = /\bcfg-[0-9a-z-]+\b/gi;
const ORIGIN = /https?:\/\/127\.0\.0\.1:\d+/g;
const FOLDER = /\/[^\s"]*quire-http-[^\s"/]*/g;
const SHOWN_ID = '01KF9E6Q3MZJ4T8V2X5Y7A9B0C';

const steadyText = (text: string): string =>
  text
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
    Object.entries(value).map(([name, member]) => [
      name,
      name in SHOWN && member !== null ? SHOWN[name] : steady(member),
    ]),
  );
};

import type { HealthReport } from './wire/health.ts';

/** A part of the service. `facts` throws when the part is away; what it gives is shown. */
export interface HealthPart {
  readonly name: string;
  readonly facts: () => Promise<Readonly<Record<string, unknown>>>;
}

interface HealthDeps {
  readonly version: string;
  /** Milliseconds since the process started. */
  readonly upMs: () => number;
  readonly parts: readonly HealthPart[];
}

const PATIENCE_MS = 2_000;

const inTime = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${String(PATIENCE_MS)} ms`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

const lookAt = async ({ name, facts }: HealthPart): Promise<readonly [string, Record<string, unknown>]> => {
  try {
    return [name, { status: 'ok', ...(await inTime(facts())) }];
  } catch {
    // Why is in the log; the page is public.
    return [name, { status: 'down' }];
  }
};

/** Asks every part how it is, all at once. A part may say `degraded` of itself. */
export const healthReport =
  ({ version, upMs, parts }: HealthDeps): (() => Promise<HealthReport>) =>
  async () => {
    const looked = Object.fromEntries(await Promise.all(parts.map(lookAt)));
    const isFine = Object.values(looked).every(({ status }) => status === 'ok');
    return {
      status: isFine ? 'ok' : 'degraded',
      version,
      uptime_seconds: Math.floor(upMs() / 1000),
      parts: looked,
    };
  };

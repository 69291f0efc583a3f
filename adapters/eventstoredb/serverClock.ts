import { connect, type ClientHttp2Session } from 'node:http2';

/** `esdb://user:password@host:2113,other:2113?tls=false` → the first host, as a browser would name it. */
export const firstHostOf = (connectionString: string): string | undefined => {
  const [, hosts = '', query = ''] =
    /^[a-z+]+:\/\/(?:[^@/?]*@)?([^/?]+)\/?(?:\?(.*))?$/i.exec(connectionString) ?? [];
  const [host] = hosts.split(',');
  if (host === undefined || host === '') return undefined;
  const tls = new URLSearchParams(query.toLowerCase()).get('tls') !== 'false';
  return `${tls ? 'https' : 'http'}://${/:\d+$/.test(host) ? host : `${host}:2113`}`;
};

const dateFrom = (session: ClientHttp2Session, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    session.once('error', reject);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    const asked = session.request({ ':method': 'GET', ':path': '/health/live' });
    asked.once('response', ({ date }) => resolve(date));
    asked.once('error', reject);
    asked.resume();
    asked.end();
  });

/**
 * Asks the server for the time by the header that every HTTP answer may have. undefined where it has none:
 * then nothing is known. `skewMs`: its clock minus ours; a whole second is all that it tells, so smaller ones
 * mean nothing.
 */
export const serverClock = async (
  connectionString: string,
  signal: AbortSignal,
): Promise<{ readonly skewMs: number } | undefined> => {
  const host = firstHostOf(connectionString);
  if (host === undefined) return undefined;
  const session = connect(host);
  try {
    const before = Date.now();
    const date = await dateFrom(session, signal);
    const middle = (before + Date.now()) / 2;
    const theirs = date === undefined ? NaN : Date.parse(date);
    // The header is cut to the second: on average half of one is missing.
    return Number.isNaN(theirs) ? undefined : { skewMs: Math.round(theirs + 500 - middle) };
  } finally {
    session.destroy();
  }
};

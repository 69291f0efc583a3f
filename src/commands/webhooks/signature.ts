import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** A secret in the form of Standard Webhooks, of random bytes: 24 to 64. */
export const secretOf = (bytes: Uint8Array): string => PREFIX + Buffer.from(bytes).toString('base64');

interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

const signatureBy = (secret: string, { id, timestamp, body }: Signed): string => {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key)
    .update(`${id}.${String(timestamp)}.${body}`)
    .digest('base64')}`;
};

/** The headers of Standard Webhooks: one signature for each secret, so that a receiver may have either. */
export const signedHeaders = (
  message: Signed,
  secrets: readonly string[],
): Readonly<Record<string, string>> => ({
  'webhook-id': message.id,
  'webhook-timestamp': String(message.timestamp),
  'webhook-signature': secrets.map((secret) => signatureBy(secret, message)).join(' '),
});

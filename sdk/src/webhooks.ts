/** Why a message is not taken for one of the service. */
export type WebhookFault =
  | 'missing_headers'
  | 'malformed'
  | 'too_old'
  | 'too_new'
  | 'wrong_signature'
  | 'bad_secret';

const SENTENCES: Readonly<Record<WebhookFault, string>> = {
  missing_headers: 'webhook-id, webhook-timestamp or webhook-signature is missing',
  malformed: 'the timestamp is no number, or the body is no JSON',
  too_old: 'the message was signed too long ago',
  too_new: 'the message was signed in the future',
  wrong_signature: 'no signature is by a secret that was given',
  bad_secret: 'a secret is whsec_ and base64',
};

/** The message is not from the service, or was changed or held back on its way. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault) {
    super(SENTENCES[fault]);
    this.fault = fault;
  }
}

/** Headers as a server hands them on: of the web, of Node, or a plain object. */
export type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the clock of the sender may be from ours. */
  readonly toleranceSeconds?: number;
  /** The time, in milliseconds; the clock's if it is not given. */
  readonly nowMs?: number;
}

const TOLERANCE_SECONDS = 300;
const VERSION = 'v1,';
const PREFIX = 'whsec_';

const isOfTheWeb = (headers: GivenHeaders): headers is Headers => typeof headers.get === 'function';

const headerOf = (headers: GivenHeaders, name: string): string => {
  if (isOfTheWeb(headers)) return headers.get(name) ?? '';
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1] ?? '';
  return typeof found === 'string' ? found : (found[0] ?? '');
};

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
};

/** Named by what makes it: not every runtime's types have a name for it. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const keyOf = (secret: string): Promise<HmacKey> => {
  const bytes = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === undefined || bytes.length === 0) throw new WebhookError('bad_secret');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
};

const checkTime = (
  timestamp: string,
  { toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() }: VerifyOptions,
) => {
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('malformed');
  const age = nowMs / 1000 - Number(timestamp);
  if (age > toleranceSeconds) throw new WebhookError('too_old');
  if (-age > toleranceSeconds) throw new WebhookError('too_new');
};

/** A header with more signatures than a rotation needs is not read to its end. */
const SIGNATURES_MAX = 10;

const signaturesOf = (header: string): readonly Uint8Array<ArrayBuffer>[] =>
  header
    .split(' ', SIGNATURES_MAX)
    .filter((part) => part.startsWith(VERSION))
    .flatMap((part) => fromBase64(part.slice(VERSION.length)) ?? []);

/**
 * The message of a webhook, once its signature and its age are found right by Standard Webhooks; throws
 * `WebhookError` otherwise. `body` is the body as it came, not parsed. During a rotation give both secrets.
 */
export const verifyWebhook = async <Message = unknown>(
  { body, headers }: { readonly body: string | Uint8Array; readonly headers: GivenHeaders },
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Message> => {
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signature) throw new WebhookError('missing_headers');
  checkTime(timestamp, options);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const keys = await Promise.all((typeof secrets === 'string' ? [secrets] : secrets).map(keyOf));
  const checks = keys.flatMap((key: HmacKey) =>
    signaturesOf(signature).map((given) => crypto.subtle.verify('HMAC', key, given, signed)),
  );
  if (!(await Promise.all(checks)).includes(true)) throw new WebhookError('wrong_signature');
  try {
    return JSON.parse(text) as Message;
  } catch {
    throw new WebhookError('malformed');
  }
};

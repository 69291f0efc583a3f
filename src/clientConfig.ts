import { z } from 'zod';

/** A bad environment; `message` names each variable and what to do about it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Variables of programs that call a service, `quire mcp` among them; a service knows and does not read them. */
export const CLIENT_VARIABLES = {
  QUIRE_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL of http or https' })
    .default('http://127.0.0.1:8080')
    .describe('the service’s address'),
  QUIRE_API_KEY: z.string().min(1).optional().describe('the key that it is called with'),
  QUIRE_TENANT: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'the tenant that it is called for', unset: 'each call names its own' }),
};

const clientEnvironment = z.object(CLIENT_VARIABLES);

/** Which service is called, and as whom. */
export interface ClientConfig {
  readonly url: string;
  readonly key: string | undefined;
  readonly tenant: string | undefined;
}

/** Reads what names another service. An empty value counts as none. Throws ConfigError. */
export const clientConfigFrom = (env: Readonly<Record<string, string | undefined>>): ClientConfig => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = clientEnvironment.safeParse(given);
  if (!parsed.success) {
    const complaints = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new ConfigError(complaints.join('\n'));
  }
  const { QUIRE_URL: url, QUIRE_API_KEY: key, QUIRE_TENANT: tenant } = parsed.data;
  return { url, key, tenant };
};

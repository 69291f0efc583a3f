import { z } from 'zod';

/** A bad environment; `message` names each variable and what to do about it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Of programs that call a service, `quire mcp` among them; a service beside them does not mind. */
const clientEnvironment = z.object({
  QUIRE_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL of http or https' })
    .default('http://127.0.0.1:8080'),
  QUIRE_API_KEY: z.string().min(1).optional(),
  QUIRE_TENANT: z.string().min(1).optional(),
});

/** Variables that a service knows and does not read. */
export const CLIENT_VARIABLES: readonly string[] = Object.keys(clientEnvironment.shape);

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

type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_NAMES = /(^|_)(KEY|KEYS|SECRET|PASSWORD|TOKEN|KEYS_OLD)$/;
const SHORTEST = 4;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** User and password of a URL, as written and as meant. */
const inUrl = (value: string): readonly string[] => {
  const userInfo = /^[a-z0-9+.-]+:\/\/([^/?#]*)@/i.exec(value)?.[1];
  if (userInfo === undefined) return [];
  const at = userInfo.indexOf(':');
  const parts = at < 0 ? [userInfo] : [userInfo, userInfo.slice(at + 1)];
  return parts.flatMap((part) => [part, decoded(part)]);
};

/** Everything in an environment that must never be printed, the longest first. */
const secretsIn = (env: Environment): readonly string[] =>
  Object.entries(env)
    .flatMap(([name, value = '']) => [
      ...(SECRET_NAMES.test(name) ? [value, ...value.split(',').map((part) => part.trim())] : []),
      ...inUrl(value),
    ])
    .filter((secret) => secret.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);

/** Replaces every secret of the environment in a text that a driver or server may have made. */
export const secretsHidden = (env: Environment): ((text: string) => string) => {
  const secrets = secretsIn(env);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
};

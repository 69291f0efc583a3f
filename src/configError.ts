/** A bad environment; `message` names each variable and what to do about it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

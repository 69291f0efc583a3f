import type { Json } from '../../kernel/json.ts';
import type { Field } from './fields.ts';

/** The value in the schema's JSON type; undefined when it has none. */
export function coerced({ type, kind, withTime }: Field, value: Json): Json | undefined {
  if (type === 'integer') return Number.isInteger(value) ? value : undefined;
  if (type !== 'string') return typeof value === type ? value : undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return kind === 'date' && withTime ? `${text}T00:00:00Z` : text;
}

/** What a provider's way of holding a model to a schema understands. */
export type SchemaDialect = 'openai' | 'openai_like' | 'anthropic' | 'google';

export interface DialectRules {
  /** Optional properties are listed as required, and may be null. */
  readonly allRequired: boolean;
  readonly closed: boolean;
  readonly stringEnumsOnly: boolean;
  readonly formats: ReadonlySet<string>;
  /** Properties that may be left out, and values of several types: beyond these a schema is refused. */
  readonly optionalMax: number;
  readonly unionsMax: number;
}

const NO_FORMATS: ReadonlySet<string> = new Set();
const OPENAI_LIKE: DialectRules = {
  allRequired: true,
  closed: true,
  stringEnumsOnly: false,
  formats: NO_FORMATS,
  optionalMax: Infinity,
  unionsMax: Infinity,
};

/** What each dialect understands. */
export const RULES: Record<SchemaDialect, DialectRules> = {
  openai: { ...OPENAI_LIKE, formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'uuid']) },
  openai_like: OPENAI_LIKE,
  anthropic: { ...OPENAI_LIKE, allRequired: false, optionalMax: 24, unionsMax: 16 },
  google: { ...OPENAI_LIKE, allRequired: false, closed: false, stringEnumsOnly: true },
};

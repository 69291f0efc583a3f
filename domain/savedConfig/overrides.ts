import { modelNamed } from '@quire/engine/models/modelName';

/** A channel as it is used, with its key opened. `undefined`, null and empty text are absent alike. */
export interface OverridableChannel {
  readonly provider_model?: string | null | undefined;
  readonly api_key?: string | null | undefined;
  readonly api_base?: string | null | undefined;
  readonly max_tokens?: number | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly num_retries?: number | null | undefined;
}

/** What a saved config says, or a request says inline. */
interface Overridable<Mode = string> {
  /** A JSON Schema, or its text where it came as text. */
  readonly schema?: unknown;
  readonly mode?: Mode | null | undefined;
  readonly artifact_id?: string | null | undefined;
  /** 0..1. */
  readonly min_confidence?: number | null | undefined;
  readonly llm?: OverridableChannel | null | undefined;
  readonly ocr?: OverridableChannel | null | undefined;
}

/** A channel of which absent members are undefined. */
export interface MergedChannel {
  readonly provider_model: string | undefined;
  readonly api_key: string | undefined;
  readonly api_base: string | undefined;
  readonly max_tokens: number | undefined;
  readonly temperature: number | undefined;
  readonly num_retries: number | undefined;
  /** Inline members that name a place which the config's key is not for, where no other key goes with them. */
  readonly misplaced: readonly ('provider_model' | 'api_base')[];
}

interface Merged<Mode = string> {
  readonly schema: unknown;
  readonly mode: Mode | undefined;
  readonly artifact_id: string | undefined;
  readonly min_confidence: number | undefined;
  readonly llm: MergedChannel;
  readonly ocr: MergedChannel;
}

const present = <Value>(value: Value): Exclude<Value, null | undefined> | undefined =>
  value === undefined || value === null || value === ''
    ? undefined
    : (value as Exclude<Value, null | undefined>);

const first = <Value>(inline: Value, saved: Value) => present(inline) ?? present(saved);

/** Whether the request asks the provider that the config names; by one name, whatever alias was used. */
const sameProvider = (saved: OverridableChannel, inline: OverridableChannel): boolean => {
  const asked = present(inline.provider_model);
  if (asked === undefined) return true;
  const named = present(saved.provider_model);
  const provider = named === undefined ? undefined : modelNamed(named)?.provider;
  return provider !== undefined && modelNamed(asked)?.provider === provider;
};

/** The address that a channel asks: one of the config belongs to the config's provider. */
const baseOf = (saved: OverridableChannel, inline: OverridableChannel): string | undefined =>
  present(inline.api_base) ?? (sameProvider(saved, inline) ? present(saved.api_base) : undefined);

/**
 * The config's key only for the provider and the address that it was published for: whoever may use a
 * config may not have its key sent elsewhere.
 */
const keyOf = (saved: OverridableChannel, inline: OverridableChannel): string | undefined => {
  const own = present(inline.api_key);
  if (own !== undefined) return own;
  const stays = sameProvider(saved, inline) && baseOf(saved, inline) === present(saved.api_base);
  return stays ? present(saved.api_key) : undefined;
};

const misplacedIn = (saved: OverridableChannel, inline: OverridableChannel): MergedChannel['misplaced'] => {
  if (present(saved.api_key) === undefined || keyOf(saved, inline) !== undefined) return [];
  const base = present(inline.api_base);
  return [
    ...(sameProvider(saved, inline) ? [] : (['provider_model'] as const)),
    ...(base === undefined || base === present(saved.api_base) ? [] : (['api_base'] as const)),
  ];
};

const channelOf = (saved: OverridableChannel, inline: OverridableChannel): MergedChannel => ({
  provider_model: first(inline.provider_model, saved.provider_model),
  api_key: keyOf(saved, inline),
  api_base: baseOf(saved, inline),
  max_tokens: first(inline.max_tokens, saved.max_tokens),
  temperature: first(inline.temperature, saved.temperature),
  num_retries: first(inline.num_retries, saved.num_retries),
  misplaced: misplacedIn(saved, inline),
});

/**
 * A saved config with what a request says inline, field by field: inline, then the config; what neither
 * says is undefined, for an artifact or the defaults to say. Keys and addresses follow the provider.
 */
export const overriddenBy = <Mode = string>(
  saved: Overridable<Mode>,
  inline: Overridable<Mode>,
): Merged<Mode> => ({
  schema: first(inline.schema, saved.schema),
  mode: present(inline.mode) ?? present(saved.mode),
  artifact_id: first(inline.artifact_id, saved.artifact_id),
  min_confidence: first(inline.min_confidence, saved.min_confidence),
  llm: channelOf(saved.llm ?? {}, inline.llm ?? {}),
  ocr: channelOf(saved.ocr ?? {}, inline.ocr ?? {}),
});

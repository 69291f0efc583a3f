import { z } from 'zod';
import { numberText, orAbsent, plainText, wholeNumberText } from './basics.ts';

const TOKENS_MAX = 10_000_000;
const RETRIES_MAX = 10;

/** What the members of a channel must be where it runs, in JSON. */
export const CHANNEL_MEMBERS = {
  provider_model: plainText(1, 200),
  api_key: plainText(1, 1000),
  api_base: plainText(1, 2000),
  max_tokens: z.int().min(1).max(TOKENS_MAX),
  temperature: z.number().min(0).max(2),
  num_retries: z.int().min(0).max(RETRIES_MAX),
};

export type ChannelMember = keyof typeof CHANNEL_MEMBERS;

/** The same in a form, where numbers are texts. */
export const CHANNEL_FIELDS = {
  ...CHANNEL_MEMBERS,
  max_tokens: wholeNumberText(1, TOKENS_MAX),
  temperature: numberText(0, 2),
  num_retries: wholeNumberText(0, RETRIES_MAX),
};

const NOTE =
  'Counts only beside the key of its channel, where that channel runs; else ignored, whatever it is.';

/** A member as it may be sent: what it must be is looked at where it counts. */
const loose = (description: string, documented: Readonly<Record<string, unknown>>) =>
  z
    .unknown()
    .optional()
    .meta({
      'x-wire': {
        description: `${description} ${NOTE}`,
        anyOf: [documented, { description: 'Else ignored.' }],
      },
    });

const looseMembers = (about: string) => ({
  provider_model: loose(`Own ${about} model, \`<provider>/<model>\`.`, { type: 'string', maxLength: 200 }),
  api_key: z
    .string()
    .optional()
    .meta({ description: `Own key for the ${about} model; BYOK rates where it is used. Empty: none.` }),
  api_base: loose('Address of its server.', { type: 'string', maxLength: 2000 }),
  max_tokens: loose('Most tokens of an answer.', { type: 'integer', minimum: 1, maximum: TOKENS_MAX }),
  temperature: loose('0 to 2.', { type: 'number', minimum: 0, maximum: 2 }),
  num_retries: loose('Attempts after the first.', { type: 'integer', minimum: 0, maximum: RETRIES_MAX }),
});

type LooseMembers = ReturnType<typeof looseMembers>;
type Prefixed<Name extends string> = {
  [Member in keyof LooseMembers as `${Name}_${Member}`]: LooseMembers[Member];
};

/** `<channel>_…` members of a form or a payload: a caller's own model. */
export const channelFields = <Name extends 'llm' | 'ocr'>(name: Name): Prefixed<Name> =>
  Object.fromEntries(
    Object.entries(looseMembers(name === 'llm' ? 'extraction' : 'OCR')).map(([member, schema]) => [
      `${name}_${member}`,
      schema,
    ]),
  ) as unknown as Prefixed<Name>;

/** A caller's own OCR model, as a member of a JSON body. */
export const ocrChannelIn = z.strictObject(looseMembers('OCR')).meta({ id: 'OcrChannel' });

/** A caller's own extraction model, as a member of a JSON body. */
export const llmChannelIn = z.strictObject(looseMembers('extraction')).meta({ id: 'LlmChannel' });

/** A model that a saved config keeps: nothing that is not what it should be is kept. */
export const modelChannelIn = z
  .strictObject({
    provider_model: orAbsent(CHANNEL_MEMBERS.provider_model),
    api_key: orAbsent(CHANNEL_MEMBERS.api_key),
    api_base: orAbsent(CHANNEL_MEMBERS.api_base),
    max_tokens: orAbsent(CHANNEL_MEMBERS.max_tokens),
    temperature: orAbsent(CHANNEL_MEMBERS.temperature),
    num_retries: orAbsent(CHANNEL_MEMBERS.num_retries),
  })
  .meta({ id: 'ModelChannel' });

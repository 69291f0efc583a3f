import { lexicon } from '../words/lexicon.ts';

/** A range of a text. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A line of an address that has the postal code, taken apart. */
export interface PostalLine {
  readonly postal_code: Range;
  readonly city: Range;
  readonly region: Range | undefined;
}

const CITY = String.raw`(?<city>\p{Lu}[\p{L}'’.-]*(?: (?:\p{L}[\p{L}'’.-]*|\d{1,2}e?(?= |$)|\([\p{L} ]+\)))*)`;
/** Region or province after the city. */
const REGION = String.raw`(?:,? \(?(?<region>[A-Z]{2})\)?|, ?(?<state>\p{Lu}[\p{L} ]{2,30}))?`;
const CODE_FIRST = new RegExp(
  String.raw`(?:^|[\s,])(?:[A-Z]{1,2}-)?(?<code>\d{5}-\d{3}|\d{4}-\d{3}|\d{4} ?[A-Z]{2}(?= )|\d{4,6})` +
    String.raw`(?: -)?,? +${CITY}${REGION}[.,]?$`,
  'du',
);
const US = new RegExp(
  String.raw`(?:^|, ?)${CITY.replaceAll(String.raw`\p{Lu}`, '[A-Z]')}` +
    String.raw`,? (?<region>[A-Z]{2}),? (?<code>\d{5}(?:-\d{4})?)[.,]?$`,
  'du',
);
const UK = new RegExp(
  String.raw`(?:^|, ?)(?:${CITY},? )?(?<code>[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})[.,]?$`,
  'du',
);
const CODE_LAST = new RegExp(String.raw`(?:^|, ?)${CITY},? (?<code>\d{5})[.,]?$`, 'du');
const LENGTH_MAX = 90;

/** Reads postal code and town from a line; undefined where it has none. */
export function postalLine(text: string): PostalLine | undefined {
  if (text.length > LENGTH_MAX || !/\d/.test(text)) return undefined;
  for (const pattern of [US, UK, CODE_FIRST, CODE_LAST]) {
    const groups = pattern.exec(text)?.indices?.groups;
    if (groups?.['code'] !== undefined) return postalParts(groups, groups['code']);
  }
  return undefined;
}

type Groups = Readonly<Record<string, readonly [number, number]>>;

function postalParts(groups: Groups, code: readonly [number, number]): PostalLine {
  const { city, region = groups['state'] } = groups;
  return {
    postal_code: rangeOf(code),
    city: city === undefined ? { from: 0, to: 0 } : rangeOf(city),
    region: region === undefined ? undefined : rangeOf(region),
  };
}

const rangeOf = ([from, to]: readonly [number, number]): Range => ({ from, to });

const STREET_WORD = new RegExp(
  `${lexicon.places.street_ends.pattern}(?=[\\s,.\\d]|$)|` +
    `(?:^|[\\s,])${lexicon.places.street_words.pattern}(?=[\\s,.:]|$)`,
  'iu',
);

/** A line with a street: its word or a name with a house number. */
export const isStreet = (text: string): boolean =>
  text.length <= LENGTH_MAX &&
  /\p{L}{2}/u.test(text) &&
  (STREET_WORD.test(text) ||
    /^\p{L}[\p{L} .'’-]+ \d{1,5} ?[a-zA-Z]?$/u.test(text) ||
    /^\d{1,5}[a-z]?,? \p{Lu}\p{L}+/u.test(text)) &&
  !/@|https?:|www\.|:\s/.test(text);

const COUNTRIES = lexicon.places.countries;

/** The name of a country alone on a line. */
export const isCountry = (folded: string): boolean => COUNTRIES.has(folded.trim().replace(/[.,]$/, ''));

import type { Json } from '../../engine/kernel/json.ts';
import type { Random } from './random.ts';
import { listOf, type Concept, type Words } from './words.ts';

/** A value as it is printed, line by line, and as JSON has it. */
export interface Value {
  readonly lines: readonly string[];
  readonly json: Json;
}

/** How one document writes what it writes: one way of dates, of numbers, of money. */
export interface Habits {
  readonly random: Random;
  readonly words: Words;
  readonly date: string;
  readonly money: string;
  /** Separators of thousands and of decimals. */
  readonly marks: readonly [string, string];
  readonly time: string;
  readonly capitals: boolean;
}

export const habitsOf = (random: Random, words: Words): Habits => ({
  random,
  words,
  date: random.pick(listOf(words, 'dates')),
  money: random.pick(listOf(words, 'money')),
  marks: marksOf(listOf(words, 'numbers')[0] ?? '1,234.56', random),
  time: random.pick(listOf(words, 'times')),
  capitals: random.chance(0.08),
});

function marksOf(sample: string, random: Random): readonly [string, string] {
  const [thousands, decimals] = [sample[1] ?? ',', sample[5] ?? '.'];
  return [random.chance(0.12) ? '' : thousands, decimals];
}

export const textOf = ({ lines }: Value): string => lines.join(' ');
const plain = (text: string, json: Json = text): Value => ({ lines: [text], json });
const pad = (value: number, to = 2): string => String(value).padStart(to, '0');
const from = ({ random, words }: Habits, name: string): string => random.pick(listOf(words, name));

/** `n` with the marks of the document, `decimals` behind the point. */
export function numberText(n: number, decimals: number, { marks: [thousands, point] }: Habits): string {
  const [whole = '', rest] = Math.abs(n).toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, thousands);
  return `${n < 0 ? '-' : ''}${grouped}${rest === undefined ? '' : point + rest}`;
}

/** An amount of money, with its sign where the document has one. */
export const moneyText = (amount: number, habits: Habits): string =>
  habits.money.replace('1', () => numberText(amount, 2, habits));

export interface Day {
  readonly y: number;
  readonly m: number;
  readonly d: number;
}

export const isoOf = ({ y, m, d }: Day): string => `${y}-${pad(m)}-${pad(d)}`;

const ORDINAL = ['th', 'st', 'nd', 'rd'];
const ordinal = (d: number): string => `${d}${(d > 3 && d < 21 ? undefined : ORDINAL[d % 10]) ?? 'th'}`;

export function dateText({ y, m, d }: Day, habits: Habits): string {
  const parts: Readonly<Record<string, string>> = {
    yyyy: String(y),
    yy: pad(y % 100),
    MMMM: listOf(habits.words, 'months')[m - 1] ?? '',
    MMM: listOf(habits.words, 'short')[m - 1] ?? '',
    mm: pad(m),
    m: String(m),
    dd: pad(d),
    dth: ordinal(d),
    d: String(d),
  };
  return habits.date.replace(/\b(?:yyyy|yy|MMMM|MMM|mm|m|dd|dth|d)\b/g, (part) => parts[part] ?? part);
}

/** A day; where day and month of a date in figures could be mixed up, mostly none is taken that can. */
export function dayOf({ random, date }: Habits, years: readonly [number, number] = [2009, 2026]): Day {
  const [y, m] = [random.int(...years), random.int(1, 12)];
  const isMixedUp = /^(mm|m|dd|d)[/-](mm|m|dd|d)[/-]/.test(date) && random.chance(0.7);
  return { y, m, d: isMixedUp ? random.int(13, 28) : random.int(1, 28) };
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const SYLLABLES =
  'ba|bel|cor|dra|el|fen|gar|ho|il|jo|kel|lam|mer|nor|os|pra|quin|ros|sel|tor|ul|ver|wen|yar|zan'.split('|');
/** A name that no list has: a name is known by where it stands. */
const made = (random: Random): string =>
  capitalised(Array.from({ length: random.int(2, 3) }, () => random.pick(SYLLABLES)).join(''));

export function person(habits: Habits): string {
  const { random } = habits;
  const first = from(habits, 'first');
  const last = random.chance(0.25) ? made(random) : from(habits, 'last');
  const middle = random.chance(0.18) ? ` ${random.filled('@')}.` : '';
  const title = random.chance(0.08) ? random.pick(['Dr. ', 'Prof. ', 'Mr. ', 'Ms. ', 'Ing. ']) : '';
  const name = random.chance(0.1) ? `${last}, ${first}${middle}` : `${title}${first}${middle} ${last}`;
  return habits.capitals ? name.toUpperCase() : name;
}

export function organization(habits: Habits): string {
  const { random } = habits;
  const head = random.pick([
    () => from(habits, 'heads'),
    () => from(habits, 'heads'),
    () => made(random),
    () => from(habits, 'last'),
    () => `${from(habits, 'last')} ${from(habits, 'and')} ${from(habits, 'last')}`,
    () => random.filled('@@@'),
    () => from(habits, 'cities'),
  ])();
  const name = `${head} ${random.chance(0.85) ? from(habits, 'trades') : ''} ${from(habits, 'suffixes')}`;
  const shown = name.replace(/\s+/g, ' ').replace(' ,', ',').trim();
  return random.chance(0.1) ? shown.toUpperCase() : shown;
}

export const body = (habits: Habits): string =>
  from(habits, 'bodies')
    .replace('{x}', () => from(habits, 'fields'))
    .replace('{c}', () => from(habits, 'cities'));

export function address(habits: Habits): readonly string[] {
  const { random } = habits;
  const filled = from(habits, 'addresses')
    .replace('{street}', () => from(habits, 'streets'))
    .replace('{street}', () => from(habits, 'streets'))
    .replace('{n}', () => String(random.int(1, random.chance(0.3) ? 9999 : 180)))
    .replace(/\{k\}/g, () => String(random.int(1, 40)))
    .replace('{city}', () => (random.chance(0.12) ? made(random) : from(habits, 'cities')))
    .replace('{region}', () => from(habits, 'regions'));
  return random.filled(filled.replace('/#', '/%')).split('/');
}

/** A month and a later one, or that it goes on. */
export function monthsOf(habits: Habits): readonly [Value, Value] {
  const { random, words } = habits;
  const [y, m, form] = [random.int(1988, 2023), random.int(1, 12), random.int(0, 3)];
  const text = (year: number, month: number): string =>
    [
      `${listOf(words, 'short')[month - 1] ?? ''} ${year}`,
      `${pad(month)}/${year}`,
      String(year),
      `${listOf(words, 'months')[month - 1] ?? ''} ${year}`,
    ][form] ?? '';
  const end = random.chance(0.2) ? from(habits, 'present') : text(y + random.int(1, 9), random.int(1, 12));
  return [plain(text(y, m)), plain(end)];
}

export const thing = (habits: Habits): string => {
  const { random } = habits;
  const phrase = `${from(habits, 'adjectives')} ${from(habits, 'nouns')}`;
  return random.chance(0.3) ? `${capitalised(phrase)} ${random.int(2009, 2027)}` : capitalised(phrase);
};

export const sentence = (habits: Habits): string => from(habits, 'sentences');

function duration(habits: Habits): string {
  const n = habits.random.int(2, 12);
  return from(habits, 'durations')
    .replace('{n}', String(n))
    .replace('{word}', listOf(habits.words, 'counting')[n - 1] ?? String(n));
}

function clock(habits: Habits): string {
  const { random, time } = habits;
  const [h, min] = [random.int(6, 22), random.pick([0, 0, 15, 30, 45, random.int(1, 59)])];
  const half = h < 12 ? 'a.m.' : 'p.m.';
  const parts: Readonly<Record<string, string>> = {
    HH: pad(h),
    h: String(((h + 11) % 12) + 1),
    MM: pad(min),
    SS: pad(random.int(0, 59)),
    a: half,
    A: h < 12 ? 'AM' : 'PM',
  };
  return time
    .replace(/HHhMM/, `${pad(h)}h${pad(min)}`)
    .replace(/\b(?:HH|h(?=:)|MM|SS|a|A)\b/g, (part) => parts[part] ?? part);
}

const folded = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[^a-zA-Z]/g, '')
    .toLowerCase();

function email(habits: Habits): string {
  const { random } = habits;
  const who = random.pick([
    `${folded(from(habits, 'first'))}.${folded(from(habits, 'last'))}`,
    random.pick(['info', 'office', 'contact', 'billing', 'sales', 'service', 'mail']),
    `${folded(from(habits, 'first')).slice(0, 1)}${folded(from(habits, 'last'))}`,
  ]);
  return `${who}@${domain(habits)}`;
}

function domain(habits: Habits): string {
  const { random } = habits;
  const name = folded(random.chance(0.4) ? made(random) : from(habits, 'heads'));
  const trade = random.chance(0.3) ? `-${folded(from(habits, 'trades'))}` : '';
  return `${name}${trade}.${from(habits, 'domains')}`;
}

const url = (habits: Habits): string =>
  `${habits.random.pick(['www.', 'https://www.', 'https://', ''])}${domain(habits)}`;

/** Ends of a range that is written in options, as `1-48`, and the decimals behind a comma. */
function bounds(options: readonly string[]): readonly [number, number, number] {
  const [, low = '1', high = '60', , decimals = '0'] =
    /^([\d.]+)-([\d.]+)(,(\d))?$/.exec(options[0] ?? '') ?? [];
  return [Number(low), Number(high), Number(decimals)];
}

export const cents = (random: Random): number =>
  random.chance(0.25)
    ? random.int(1, 90) * 50
    : random.int(300, random.chance(0.2) ? 9_800_000 : 180_000) / 100;

function numeric({ is, options }: Concept, habits: Habits): Value {
  const { random } = habits;
  const [low, high, decimals] = bounds(options);
  if (is === 'integer') {
    const n = random.int(low, high);
    return plain(numberText(n, 0, habits), n);
  }
  if (is === 'percent') {
    const listed =
      options.length > 1
        ? Number(random.pick(options))
        : Math.round((low + random.next() * (high - low)) * 100) / 100;
    const text = String(listed).replace('.', habits.marks[1]);
    return plain(`${text}${random.pick(['%', '%', ' %'])}`, listed);
  }
  const n = Number((low + random.next() * (high - low)).toFixed(decimals));
  return plain(numberText(n, decimals, habits), n);
}

const CARS = 'Corvana|Mistral GT|Fennec|Tundra Lux|Astrada 1.6|Vektor|Pallas|Brio 5'.split('|');

const JOURNALS = ['Journal of', 'Annals of', 'Proc. Int. Conf. on', 'Transactions on', 'Archiv', 'Revue'];

/** Texts that lists of words make up. */
const SPECIAL: Readonly<Record<string, (habits: Habits) => string>> = {
  thing,
  car: ({ random }) => `${made(random)} ${random.pick(CARS)}`,
  vessel: (habits) => {
    const { random } = habits;
    const name = `${from(habits, 'heads')} ${random.pick(['Star', 'Express', 'Trader', ''])}`.trim();
    return `${random.pick(['MV ', 'M/V ', 'MS ', ''])}${name}`;
  },
  venue: (habits) =>
    `${from(habits, 'heads')} ${habits.random.pick(['Hall', 'Centre', 'Forum', 'Arena', 'Room 2'])}`,
  club: ({ random, words }) =>
    `${random.pick(listOf(words, 'cities'))} ${random.pick(['SC', 'AC', 'Aquatics', 'Harriers', 'TV 1887', 'United'])}`,
  racetime: ({ random }) =>
    random.pick([
      `${random.int(1, 4)}:${pad(random.int(0, 59))}.${pad(random.int(0, 99))}`,
      `${random.int(20, 59)}.${pad(random.int(0, 99))}`,
    ]),
  precinct: ({ random, words }) =>
    random.pick([
      `${random.int(1, 40)}-${random.filled('@')}`,
      `Ward ${random.int(1, 24)}`,
      `${random.pick(listOf(words, 'streets'))} School`,
    ]),
  first: (habits) => from(habits, 'first'),
  month: (habits) => textOf(monthsOf(habits)[0]),
  prose: (habits) => habits.random.some(listOf(habits.words, 'sentences'), habits.random.int(3, 6)).join(' '),
  papertitle: (habits) =>
    `${thing(habits)}${habits.random.pick([': ', ' – ', ', '])}${from(habits, 'adjectives')} ${from(habits, 'nouns')}`,
  journal: (habits) => `${habits.random.pick(JOURNALS)} ${from(habits, 'fields')}`,
  pages: ({ random }) => `${random.int(1, 480)}${random.pick(['–', '-'])}${random.int(481, 990)}`,
  refauthors: (habits) =>
    Array.from(
      { length: habits.random.int(1, 3) },
      () => `${habits.random.filled('@')}. ${from(habits, 'last')}`,
    ).join(habits.random.pick([', ', ' and '])),
  dimensions: ({ random }) =>
    `${random.int(10, 900)} x ${random.int(10, 900)} x ${random.int(5, 400)} ${random.pick(['mm', 'cm'])}`,
  temperatures: ({ random }) =>
    `-${random.int(5, 40)} ${random.pick(['to', '...', '–'])} +${random.int(40, 90)} °C`,
};

function textFor({ options }: Concept, habits: Habits): Value {
  const [first = 'thing', ...others] = options;
  if (first.startsWith('measure:')) {
    const { random } = habits;
    const amount = random.int(1, 9800) / random.pick([1, 10]);
    return plain(
      `${numberText(amount, random.int(0, 1), habits)} ${random.pick([first.slice(8), ...others])}`,
    );
  }
  const special = SPECIAL[first];
  return plain(special === undefined ? habits.random.pick(options) : special(habits));
}

const CURRENCIES: Readonly<Record<string, string>> = {
  $: 'USD',
  '£': 'GBP',
  '€': 'EUR',
  zł: 'PLN',
  Kč: 'CZK',
};

/** The code of the currency whose sign the document's amounts bear; undefined where they bear none. */
export function currencyOf({ money }: Habits): string | undefined {
  const sign = money.replace(/[1\s]/g, '');
  return sign === '' ? undefined : (CURRENCIES[sign] ?? sign);
}

const MAKERS: Readonly<Record<string, (concept: Concept, habits: Habits) => Value>> = {
  person: (_, habits) => plain(person(habits)),
  org: (_, habits) => plain(organization(habits)),
  body: (_, habits) => plain(body(habits)),
  party: (_, habits) => plain(habits.random.chance(0.5) ? organization(habits) : person(habits)),
  address: (_, habits) => {
    const lines = address(habits);
    return { lines, json: lines.join(', ') };
  },
  city: (_, habits) => plain(from(habits, 'cities')),
  region: (_, habits) => plain(from(habits, 'regionNames')),
  country: (_, habits) => plain(from(habits, 'countries')),
  date: (concept, habits) => {
    const day = dayOf(habits, concept.id.endsWith('birth_date') ? [1931, 2012] : undefined);
    return plain(dateText(day, habits), isoOf(day));
  },
  time: (_, habits) => plain(clock(habits)),
  year: (_, { random }) => {
    const year = random.int(1948, 2026);
    return plain(String(year), year);
  },
  duration: (_, habits) => plain(duration(habits)),
  money: (_, habits) => {
    const amount = cents(habits.random);
    return plain(moneyText(amount, habits), amount);
  },
  amount: (_, habits) => {
    const amount = cents(habits.random);
    return plain(numberText(amount, 2, habits), amount);
  },
  integer: numeric,
  number: numeric,
  percent: numeric,
  code: ({ options }, { random }) => plain(random.filled(random.pick(options))),
  iban: (_, { random }) =>
    plain(
      random.filled(
        random.pick([
          'DE## #### #### #### #### ##',
          'FR## #### #### #### #### #### ###',
          'ES##%###################',
          'NL##@@@@##########',
          'GB## @@@@ #### #### #### ##',
          'PL## #### #### #### #### #### ####',
          'IT##@##########@###########',
          'CZ## #### #### #### #### ####',
        ]),
      ),
    ),
  bic: (_, { random }) =>
    plain(random.filled(random.pick(['@@@@DEFF', '@@@@FRPPXXX', '@@@@NL2A', '@@@@GB2L', '@@@@ITMM###']))),
  vat: (_, habits) => plain(habits.random.filled(from(habits, 'vats'))),
  phone: (_, habits) => plain(habits.random.filled(from(habits, 'phones'))),
  email: (_, habits) => plain(email(habits)),
  url: (_, habits) => plain(url(habits)),
  product: (_, habits) => plain(from(habits, 'products')),
  unit: (_, habits) => plain(from(habits, 'units')),
  job: (_, habits) => plain(from(habits, 'jobs')),
  sentence: (_, habits) => plain(sentence(habits)),
  currency: (_, habits) => plain(currencyOf(habits) ?? habits.random.pick(['USD', 'EUR', 'GBP', 'CHF'])),
  title: (_, habits) => plain(thing(habits)),
  text: textFor,
};

/** A value of the form that a concept has, as this document writes it. */
export function valueOf(concept: Concept, habits: Habits): Value {
  const make = MAKERS[concept.is];
  if (make === undefined) throw new RangeError(`no values are made of ${concept.id}, a ${concept.is}`);
  return make(concept, habits);
}

/** First and last day of a range, in that order. */
export function rangeOf(habits: Habits): readonly [Value, Value] {
  const a = dayOf(habits);
  const months = habits.random.pick([0, 1, 1, 2, 3, 6, 12]);
  const end = a.y * 12 + a.m - 1 + months;
  const b = {
    y: Math.floor(end / 12),
    m: (end % 12) + 1,
    d: months === 0 ? Math.min(28, a.d + habits.random.int(1, 14)) : habits.random.int(13, 28),
  };
  return [plain(dateText(a, habits), isoOf(a)), plain(dateText(b, habits), isoOf(b))];
}

/** A label and the range of its value in the same text. */
export interface ColonPair {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** A colon or arrow that parts a label from a value: neither that of a time nor of an address of the web. */
const COLON = /(?<=[\p{L}\p{N}).\]"#%])\s?(?:[:：](?!\/\/|\d\d\b)|[-=]>|[→▶►])/gu;
const LABEL_MAX = 80;
/** A second label on the same line is no longer than this. */
const LATER_WORDS = 3;

/** A name without spaces, as files of settings have them: `ship.port=Kobe`. */
export const ASSIGNED = /^\s?([\p{L}_][\p{L}\p{N}_.[\]-]{0,60})\s?=\s?(?=[^\s=])/u;

/** A member of JSON that is a text, a number, yes or no: `"grossWeight": 12.5`. */
const MEMBER =
  /"([^"\\]{1,80})"\s?:\s?(?:"((?:[^"\\]|\\.){1,2000})"|(-?\d[\d.]*|true|false)(?=\s?[,}\]]|\s*$))/gu;

const HOLDS_MEMBERS = /^\s*[{["]/u;

/** A member of JSON that holds others: `"carrier": {`. */
const OPENS_MEMBER = /^[\s,]*"([^"\\]{1,80})"\s?:\s?[{[]+$/u;

const inWords = (name: string): string =>
  name.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ').replaceAll('_', ' ');

function membersIn(text: string): readonly ColonPair[] {
  if (!HOLDS_MEMBERS.test(text)) return [];
  return [...text.matchAll(MEMBER)].map(({ 0: all, 1: name = '', 2: quoted, 3: plain = '', index }) => {
    const value = quoted ?? plain;
    const from = index + all.length - value.length - (quoted === undefined ? 0 : 1);
    return { label: inWords(name), from, to: from + value.length };
  });
}

/** The name of what the lines below are members of, as JSON opens it; undefined of any other line. */
export function openedMember(text: string): string | undefined {
  const name = OPENS_MEMBER.exec(text)?.[1];
  return name === undefined ? undefined : inWords(name);
}

/** The number of a choice, whose colon parts no label from a value: `Colour: 2: Red`. */
const CHOICE_NUMBER = /^\s*\d{1,2}\s?:$/;
/** The same before the text that was chosen. */
const CHOSEN = /^\s*\d{1,2}\s?:\s+(?=\p{L}{3})/u;

/** The pairs of label and value that colons part on one line: `Date: 3 May  Place: Leeds` has two. */
export function colonPairs(text: string): readonly ColonPair[] {
  const members = membersIn(text);
  if (members.length > 0) return members;
  const [start = '', name] = ASSIGNED.exec(text) ?? [];
  if (name !== undefined) return [{ label: name, from: start.length, to: text.length }];
  const colons = [...text.matchAll(COLON)]
    .map(({ index, 0: mark }) => ({ at: index, end: index + mark.length }))
    .filter(({ at }, i, all) => i === 0 || !CHOICE_NUMBER.test(text.slice(all[i - 1]?.end ?? 0, at + 1)));
  const starts = colons.map(({ at }, i) => (i === 0 ? 0 : laterStart(text, colons[i - 1]?.end ?? 0, at)));
  return colons.flatMap(({ at, end }, i): readonly ColonPair[] => {
    const start = starts[i] ?? 0;
    const to = starts[i + 1] ?? text.length;
    const label = text.slice(start, at).trim();
    if (label === '' || label.length > LABEL_MAX || text.slice(end, to).trim() === '') return [];
    return [{ label, from: end + (CHOSEN.exec(text.slice(end, to))?.[0].length ?? 0), to }];
  });
}

/** Where the label before a later colon begins: up to three words, from the first that is written large. */
function laterStart(text: string, from: number, to: number): number {
  const words = [...text.slice(from, to).matchAll(/\S+/g)].slice(-LATER_WORDS);
  const value = [...text.slice(from, to).matchAll(/\S+/g)];
  const free = words.filter(({ index }) => index > (value[0]?.index ?? 0));
  const first = free.find(({ 0: word }) => /^\p{Lu}/u.test(word) && !/\d/.test(word)) ?? free.at(-1);
  return first === undefined ? to : from + first.index;
}

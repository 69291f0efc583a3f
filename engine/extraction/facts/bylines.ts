import { withoutEnd } from '../../kernel/text.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import parts from '../lexicon/parts.json' with { type: 'json' };
import { headOf } from '../parts/head.ts';
import { personIn } from '../parts/people.ts';
import { wordsIn, type Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import type { Fact } from './mailFacts.ts';

const AUTHORS = new Set(parts.authors);
const KNOWN = new WeakMap<Source, readonly Finding[]>();

/** Names below a title are its authors nearly always. */
const CONFIDENCE = 0.85;

/** The authors of a paper: the persons that are named right below its title; undefined where none are. */
export function bylineFact({ type, terms: { name } }: Field, source: Source): Fact | undefined {
  if (type !== 'string' || name.length !== 1 || !name.every((word) => AUTHORS.has(word))) return undefined;
  const findings = KNOWN.get(source) ?? authorsIn(source);
  KNOWN.set(source, findings);
  return findings.length === 0 ? undefined : { findings };
}

const LINES_MAX = 4;
const LINE_CHARACTERS = 300;

function authorsIn(source: Source): readonly Finding[] {
  const [title] = headOf(source).large;
  const last = title?.segments.at(-1);
  if (last === undefined) return [];
  const below = source.layout.segments.slice(last.index + 1, last.index + 1 + LINES_MAX);
  const found: Finding[] = [];
  for (const segment of below) {
    const isByline = segment.page === last.page && besideIt(segment, source).every(saysName);
    const names = isByline ? namesIn(segment) : [];
    if (names.length === 0 && found.length > 0) break;
    found.push(...names);
  }
  return found;
}

/** What else stands in a row: of a byline further names, of the header of a table other columns. */
const besideIt = ({ row, index }: Segment, { layout }: Source): readonly Segment[] =>
  (layout.rows[row]?.segments ?? []).filter((other) => other.index !== index);

const saysName = (segment: Segment): boolean =>
  !/\p{L}{2}/u.test(segment.text) || namesIn(segment).length > 0;

const MARK = /[\d*†‡§¶,\s]/;
const LETTER_ALONE = /\s[a-z]$/;
const MARKS_MAX = 8;

/** A name without the marks of its affiliations: figures, stars, letters that stand alone. */
function unmarked(text: string): string {
  let name = withoutEnd(text, MARK);
  for (let i = 0; i < MARKS_MAX && LETTER_ALONE.test(name); i += 1)
    name = withoutEnd(name.slice(0, -2), MARK);
  return name;
}

const PARTS = /[^,;·&]+(?:,[a-z\d*†‡§¶](?![\p{L}]))*|[;·&]/gu;

/** The persons of a line that names nothing else; none of a line that does. */
function namesIn(segment: Segment): readonly Finding[] {
  if (segment.text.length > LINE_CHARACTERS) return [];
  const found: Finding[] = [];
  for (const match of segment.text.matchAll(PARTS)) {
    for (const piece of match[0].split(/\s(?:and|und|et|y|e|en|a)\s|^(?:and|und|et|y|e|en)\s/u)) {
      const text = unmarked(piece.trim());
      if (!/\p{L}{2}/u.test(text)) continue;
      const name = personIn(text);
      if (name === undefined) return [];
      found.push(finding(segment, match.index + match[0].indexOf(name), name));
    }
  }
  return found;
}

const finding = (segment: Segment, from: number, name: string): Finding => ({
  value: name,
  text: name,
  page: segment.page,
  words: wordsIn(segment, from, from + name.length),
  confidence: CONFIDENCE,
  kind: 'head',
});

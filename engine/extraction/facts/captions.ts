import { once } from '../../kernel/once.ts';
import type { Field } from '../fields/fields.ts';
import { termsIn, weightOf, type Terms } from '../fields/terms.ts';
import type { Finding } from '../finding.ts';
import { isName } from '../parties/partyNames.ts';
import { wordsIn, type Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { stemOf } from '../words/labelWords.ts';
import { lexicon } from '../words/lexicon.ts';
import { says } from '../words/says.ts';
import type { Fact } from './mailFacts.ts';

/** Who is against whom stands in a form of its own, which little else has. */
const CONFIDENCE = 0.85;
/** A caption stands in the head of the first page. */
const SEGMENTS_MAX = 60;
/** Lines that a name may have above its role. */
const ROWS_ABOVE = 2;
const NAMED = 0.9;

const AGAINST = `(?<!\\p{L})${lexicon.parties.against.pattern}(?!\\p{L})\\.?`;
const BETWEEN = new RegExp(`^[\\s-]*${AGAINST}[\\s-]*$`, 'iu');
const PARTED = new RegExp(`(?<=[,;])\\s*${AGAINST}\\s+`, 'iu');
const ROLE_ALONE = /^\s*(\p{L}{4,24}(?:[ -]\p{L}{4,24})?)[,.;]\s*$/u;
const ROLE_BEHIND = /,\s+(\p{L}{4,24}(?:[ -]\p{L}{4,24})?)[,.;]?\s*$/u;

/** A party with the role that stands behind its name. */
interface Party {
  readonly role: string;
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

/** The parties of a caption: "A, Plaintiff, v. B, Defendant", in one line or each part in its own. */
const partiesIn = once(({ layout }: Source): readonly Party[] => {
  const head = layout.segments.slice(0, SEGMENTS_MAX).filter(({ page }) => page === 1);
  const inLine = head.flatMap(partiesOfLine);
  if (inLine.length > 0 || !head.some(({ text }) => BETWEEN.test(text))) return inLine;
  return head.flatMap((segment): readonly Party[] => {
    const role = ROLE_ALONE.exec(segment.text)?.[1];
    const name = role === undefined ? undefined : nameAbove(segment, head);
    if (role === undefined || name === undefined) return [];
    return [{ role, segment: name, from: 0, to: endOf(name.text) }];
  });
});

function partiesOfLine(segment: Segment): readonly Party[] {
  const between = PARTED.exec(segment.text);
  if (between === null) return [];
  const second = between.index + between[0].length;
  return [
    { from: 0, end: between.index },
    { from: second, end: segment.text.length },
  ].flatMap(({ from, end }): readonly Party[] => {
    const match = ROLE_BEHIND.exec(segment.text.slice(from, end));
    return match === null ? [] : [{ role: match[1] ?? '', segment, from, to: from + match.index }];
  });
}

/** The nearest text above, over or left of the role, which ends in a comma. */
function nameAbove(role: Segment, head: readonly Segment[]): Segment | undefined {
  const above = head.filter(
    ({ row, x0, x1 }) => row < role.row && row >= role.row - ROWS_ABOVE && x0 <= role.x1 && x1 >= role.x0,
  );
  const nearest = above.at(-1);
  return nearest !== undefined && /[,;]\s*$/.test(nearest.text) ? nearest : undefined;
}

const endOf = (text: string): number => text.trimEnd().length - 1;

/** The role says the field, but for words that any name may have: `plaintiff_name`. */
function asksFor(terms: Terms, role: readonly string[]): boolean {
  const own = terms.name.filter((word) => weightOf(word) === 1);
  const isOwn = (word: string, words: readonly string[]): boolean =>
    words.some((other) => stemOf(word) === stemOf(other));
  const isSame = own.length > 0 && own.every((word) => isOwn(word, role));
  return (
    (isSame && role.every((word) => isOwn(word, own))) ||
    says({ label: role, context: [], implied: new Set() }, terms) >= NAMED
  );
}

/** Who has the role that a field asks for by the caption of a case; undefined where there is none. */
export function captionFact({ type, kind, terms }: Field, source: Source): Fact | undefined {
  if (type !== 'string' || (kind !== 'text' && kind !== 'party')) return undefined;
  const parties = partiesIn(source).filter(({ role }) => asksFor(terms, termsIn(role)));
  const [party, ...others] = parties;
  if (party === undefined || others.length > 0) return undefined;
  const text = party.segment.text.slice(party.from, party.to).trim();
  if (!isName(text)) return undefined;
  const { segment, from, to } = party;
  const words = wordsIn(segment, from, to);
  const finding: Finding = { value: text, text, page: segment.page, words, confidence: CONFIDENCE };
  return { findings: [finding] };
}

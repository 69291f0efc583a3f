import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { headOf } from '../parts/head.ts';
import { isOrganization } from '../parts/people.ts';
import { wordsIn, type Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import type { Fact } from './mailFacts.ts';

const ASKED = new Set(
  (
    'affiliation affiliations institution institutions institute zugehorigkeit institutionen affiliazioni ' +
    'filiacion filiaciones instituciones etablissements affiliaties'
  ).split(' '),
);
/** The mark that the authors' names refer to, before the name of the institution. */
const MARKED = /^(?:\d{1,2}|[a-z]|[*†‡§¶])[.)]?\s?(?=\p{Lu})/u;
const LINES_MAX = 30;
const CONFIDENCE = 0.85;

/** The institutions of a paper's authors: lines below its title that begin with a mark and name an organization. */
export function affiliationFact({ type, terms: { name } }: Field, source: Source): Fact | undefined {
  if (type !== 'string' || !name.some((word) => ASKED.has(word))) return undefined;
  const last = headOf(source).large[0]?.segments.at(-1);
  if (last === undefined) return undefined;
  const findings = source.layout.segments
    .slice(last.index + 1, last.index + 1 + LINES_MAX)
    .flatMap((segment) => (segment.page === last.page ? marked(segment) : []));
  return findings.length === 0 ? undefined : { findings };
}

function marked(segment: Segment): readonly Finding[] {
  const mark = MARKED.exec(segment.text)?.[0];
  const value = segment.text.slice(mark?.length ?? 0);
  if (mark === undefined || !isOrganization(value)) return [];
  const words = wordsIn(segment, mark.length, segment.text.length);
  return [{ value, text: value, page: segment.page, words, confidence: CONFIDENCE, kind: 'head' }];
}

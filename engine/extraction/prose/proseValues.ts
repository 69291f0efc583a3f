import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { duration, governingLaw, venue } from './proseClauses.ts';
import { proseDate } from './proseDates.ts';
import { partyFindings } from './proseParties.ts';
import { namedAs, partiesInRole, partyInRole, roleOf } from './roles.ts';
import { proseOf, type Prose } from './prose.ts';
import type { Source } from '../source.ts';
import { asks } from '../fields/wants.ts';

/** What the sentences of a document say of a field; undefined where it is a form, or they do not say it. */
export function findInProse(field: Field, source: Source): Finding | undefined {
  const found = inProse(field, source);
  return found && { ...found, kind: 'prose' };
}

function inProse(field: Field, source: Source): Finding | undefined {
  const prose = proseOf(source);
  if (field.choices.length > 0) return undefined;
  if (prose === undefined) return onCover(field, source);
  if (field.kind === 'date') return proseDate(field, prose, source.conventions.dayFirst);
  if (field.kind === 'text' || field.kind === 'party') return said(field, prose, source);
  if (field.type === 'string' || field.type === 'boolean') return undefined;
  return asks(field, 'lasting') ? duration(field, prose) : undefined;
}

/** Covers and pages of signatures have no sentences, and say who has which role. */
function onCover(field: Field, source: Source): Finding | undefined {
  const isText = field.type === 'string' && (field.kind === 'text' || field.kind === 'party');
  return isText && !asks(field, 'about_party') ? namedAs(roleOf(field), source)[0] : undefined;
}

function said(field: Field, prose: Prose, source: Source): Finding | undefined {
  const party = asks(field, 'about_party') ? undefined : partyInRole(prose, roleOf(field), source);
  if (party !== undefined) return party;
  if (asks(field, 'court')) return venue(prose) ?? governingLaw(field, prose);
  if (asks(field, 'law')) return governingLaw(field, prose) ?? venue(prose);
  return asks(field, 'lasting') && !field.terms.name.includes('payment') ? duration(field, prose) : undefined;
}

/** The parties as a list, where the field asks for parties, or for those that have a role. */
export function listInProse(field: Field, source: Source): readonly Finding[] {
  const prose = proseOf(source);
  if (prose === undefined || asks(field, 'about_party')) return [];
  return asks(field, 'parties') ? partyFindings(prose) : partiesInRole(roleOf(field), source);
}

import type { DocumentClass } from '../../engine/ports/sorting.ts';
import { classify } from '../../engine/sorting/classify.ts';
import { groupedBy } from '../../engine/kernel/lists.ts';
import type { Random } from './random.ts';
import type { Sheaf } from './stacks.ts';

/** What somebody who sorts such documents would say of each kind. */
const DESCRIBED: Readonly<Record<string, readonly [name: string, description: string]>> = {
  invoice: ['Invoice', 'A bill for goods or services with invoice number, items, VAT and the amount to pay.'],
  nda: ['Non-disclosure agreement', 'A contract that keeps confidential information secret between parties.'],
  adbuy: [
    'Order of advertising time',
    'A television or radio station confirms spots for an advertiser or agency: contract, flight dates, gross amount.',
  ],
  receipt: ['Receipt', 'A till receipt of a shop or restaurant: items, total, cash, change, GST, thank you.'],
  registration: [
    'Foreign agent registration',
    'A statement to the Department of Justice under the Foreign Agents Registration Act: registrant, principal.',
  ],
  paper: [
    'Research paper',
    'A scientific article with abstract, introduction, method, results and references.',
  ],
  resume: ['Resume', 'A curriculum vitae of a person: experience, education, skills.'],
  swimming: ['Swimming results', 'Results of a swimming meet: events, swimmers, teams, finals time, heats.'],
  report: ['Annual or quarterly report', 'A form 10-K or 10-Q to the Securities and Exchange Commission.'],
  loan: ['Credit agreement', 'A contract between borrower, lenders and agent about a loan.'],
};

/** Stations' papers on advertising time are orders, contracts and invoices: one that calls itself so is both. */
const isAlso = ({ kind, pages }: Sheaf, name: string | null): boolean =>
  kind === 'adbuy' &&
  name === 'Invoice' &&
  (pages[0]?.lines.slice(0, 8) ?? []).some(({ text }) => /\binv(?:oice)?\b/i.test(text));

const isRight = (one: Sheaf, name: string | null): boolean =>
  DESCRIBED[one.kind]?.[0] === name || isAlso(one, name);

const textOf = ({ pages }: Sheaf): string =>
  pages
    .flatMap(({ lines }) => lines.map(({ text }) => text))
    .join('\n')
    .slice(0, 20_000);

type Row = Readonly<Record<string, string | number>>;

/** Of sheaves, how many are told by classes: by names alone, with descriptions, and by examples of their kind. */
export function classRows(
  sheaves: readonly Sheaf[],
  isUnseen: (kind: string) => boolean,
  luck: Random,
): readonly Row[] {
  const judged = sheaves.filter(({ kind }) => kind in DESCRIBED);
  const byKind = groupedBy(judged, ({ kind }) => kind);
  const examples = new Map(
    [...byKind].map(([kind, own]) => [kind, luck.some(own, Math.min(3, own.length - 1))]),
  );
  const taken = new Set([...examples.values()].flat());
  const names = (given: (kind: string) => Partial<DocumentClass>): readonly DocumentClass[] =>
    Object.entries(DESCRIBED).map(([kind, [name]]) => ({ name, ...given(kind) }));
  const ways: Readonly<Record<string, readonly DocumentClass[]>> = {
    'names alone': names(() => ({})),
    'names and descriptions': names((kind) => ({ description: DESCRIBED[kind]?.[1] })),
    'names and three examples': names((kind) => ({ examples: examples.get(kind)?.map(textOf) })),
  };
  const others = sheaves.filter(({ kind }) => kind === 'other');
  return Object.entries(ways).map(([way, classes]) => {
    const told = judged
      .filter((one) => !taken.has(one))
      .map((one) => ({ one, is: classify(one.pages, classes).class }));
    const right = (of: typeof told) =>
      `${String(of.filter(({ one, is }) => isRight(one, is)).length)} of ${String(of.length)}`;
    const wrongs = groupedBy(
      told.filter(({ one, is }) => !isRight(one, is)),
      ({ one, is }) => `${one.kind}: ${String(is)}`,
    );
    const none = others.filter(({ pages }) => classify(pages, classes).class === null).length;
    return {
      by: way,
      right: right(told),
      unseen: right(told.filter(({ one }) => isUnseen(one.kind))),
      'none of them': `${String(none)} of ${String(others.length)}`,
      wrong: [...wrongs].map(([what, of]) => `${what} ${String(of.length)}`).join(', '),
    };
  });
}

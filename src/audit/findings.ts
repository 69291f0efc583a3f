import type { RecordedEvent } from '../../domain/kernel/recorded.ts';

/** What the auditor checks, in the order of its report. */
const CHECKS = {
  chain: 'every stream is complete: its revisions have no gaps and its hash chain is valid',
  order: 'positions rise, none is missing, and no event ID occurs twice',
  stored: 'the file holds every event as the log writes it, and the digest over the whole log matches',
  schema: 'every event can be read by its schema',
  owner: 'stream, kind of event and tenant agree',
  time: 'every event was recorded when it was made, and recording times never run backwards',
  balance: 'every balance follows from the events before it',
  available: 'no tenant spent more credits or free pages than it had',
  hold: 'every hold was opened once and closed once, and no burn exceeds its hold',
  budget: 'every refusal, alert and period of a budget follows from the holds and burns that it counts',
  consent:
    'every consent to top-ups is given by those who answer for the payer, and what is charged by it is sold',
  rate: 'every burn has the rate of its billing config',
  price: 'every sale has the price of a list that was in force',
  fx: 'every sale was booked at the last known exchange rate, or at a later one that says why',
  refund: 'no refund exceeds its sale',
  books: 'months were closed in order, and every closed month has the figures that the log gives',
  claim: 'every sale and refund matches its claim, and every claim was settled',
  transfer: 'credits that one tenant sent to another arrived there, once and all of them',
  identity: 'no payment, charge, adjustment or operation took effect twice',
  version: 'published versions have no gaps',
  work: 'delivered work was billed, undelivered work was not',
  pipeline:
    'every training job had one worker at a time and one end, and every deployment uses what a job has learned',
  operation:
    'every operation had one worker at a time and one end, and was charged once, and only if it succeeded',
  batch: 'every batch begins each document once, none after it was cancelled, and ends as its documents did',
  review:
    'every review is of an operation that needs one, has one holder at a time, and is decided once in each generation',
  evaluation: 'every run measures a whole version of its set, and is scored once, when it has ended',
  agreement: 'what several events say of the same sale, work, document or artifact is the same',
  seal: 'every sealed event is still there, unchanged',
  objects: 'objects are what the log says of them, by their digests',
  archive: 'every file of the archive is the one that the log names',
  read_models: 'the read models match the events',
} as const;
export type Check = keyof typeof CHECKS;

/** Something that should not be. Times, positions and amounts are text, as they are printed. */
export interface Finding {
  readonly check: Check;
  readonly message: string;
  readonly stream?: string;
  readonly revision?: string;
  readonly position?: string;
  readonly table?: string;
  readonly tenant_id?: string;
  /** Key of a row. */
  readonly key?: string;
  readonly column?: string;
  readonly expected?: string;
  readonly found?: string;
}

/** Where an event is in the log. */
export type Place = Pick<RecordedEvent, 'stream' | 'revision' | 'position'>;

/** Where checks report to. */
export type Findings = ReturnType<typeof findingsKept>;

/** What an audit found: the checks that were made, in the order of `CHECKS`, findings and notes. */
export type FindingsResult = ReturnType<Findings['result']>;

/** How often a check was made, and how often it found something. */
interface Count {
  checked: number;
  findings: number;
}

/** What one half of an audit found, as it goes from one thread to another. */
export interface HalfFound {
  readonly kept: ReadonlyMap<Check, readonly Finding[]>;
  readonly counts: ReadonlyMap<Check, Readonly<Count>>;
  readonly notes: readonly string[];
}

const positionIn = ({ position }: Finding): bigint => BigInt(position ?? -1n);

const byPosition = (a: Finding, b: Finding): number => {
  const [first, second] = [positionIn(a), positionIn(b)];
  return first < second ? -1 : Number(first > second);
};

/** Of a check that both halves make, in the order of the log; of one event the first half tells first. */
const joined = (first: readonly Finding[], second: readonly Finding[]): Finding[] =>
  first.length === 0 || second.length === 0 ? [...first, ...second] : [...first, ...second].sort(byPosition);

/** Whether time runs backwards is known a few events later. Findings of one event have the order of their texts. */
const byTime = (a: Finding, b: Finding): number =>
  byPosition(a, b) || (a.message < b.message ? -1 : Number(a.message > b.message));
/** More of them are kept until they are in order. */
const LATE_MAX = 100;

const NOTES_MAX = 100;

/** Collects what an audit finds: of each check all are counted, and `keep` kept. */
export const findingsKept = (keep: number) => {
  const kept = new Map<Check, Finding[]>();
  const counts = new Map<Check, Count>();
  const notes: string[] = [];
  const countOf = (check: Check) => {
    const known = counts.get(check);
    if (known !== undefined) return known;
    const first = { checked: 0, findings: 0 };
    counts.set(check, first);
    return first;
  };
  return {
    add: (finding: Finding): void => {
      countOf(finding.check).findings += 1;
      const list = kept.get(finding.check) ?? [];
      if (list.length < keep + LATE_MAX) list.push(finding);
      kept.set(finding.check, list);
    },
    /** Something worth knowing that is not wrong. */
    note: (text: string): void => {
      if (notes.length < NOTES_MAX) notes.push(text);
    },
    /** Says that a check was made on one more thing. */
    checked: (check: Check, times = 1): void => {
      countOf(check).checked += times;
    },
    half: (): HalfFound => ({ kept, counts, notes }),
    /** Adds what the half before this one found. */
    takeIn: (half: HalfFound): void => {
      for (const [check, { checked, findings }] of half.counts) {
        const count = countOf(check);
        count.checked += checked;
        count.findings += findings;
      }
      for (const [check, found] of half.kept) kept.set(check, joined(found, kept.get(check) ?? []));
      for (const text of half.notes) if (notes.length < NOTES_MAX) notes.push(text);
    },
    total: (): number => [...counts.values()].reduce((sum, { findings }) => sum + findings, 0),
    result: () => {
      const made = (Object.keys(CHECKS) as Check[]).filter((check) => counts.has(check));
      kept.get('time')?.sort(byTime);
      return {
        checks: made.map((check) => ({ check, about: CHECKS[check], ...countOf(check) })),
        findings: made.flatMap((check) => kept.get(check)?.slice(0, keep) ?? []),
        notes,
      };
    },
  };
};

export const placeOf = ({ stream, revision, position }: Place): Place => ({ stream, revision, position });

type Shown = string | number | bigint | null | undefined;

const shown = (name: 'expected' | 'found', value: Shown): Partial<Finding> =>
  value === undefined ? {} : { [name]: String(value) };

/** Reports what is wrong with the event at a place: a sentence, and the expected and actual values, if any. */
export const wrong =
  (
    { add }: Pick<Findings, 'add'>,
    check: Check,
    { stream, revision, position, column }: Place & Pick<Finding, 'column'>,
  ) =>
  (message: string, expected?: Shown, found?: Shown): void =>
    add({
      check,
      message,
      stream,
      revision: String(revision),
      position: String(position),
      ...(column !== undefined && { column }),
      ...shown('expected', expected),
      ...shown('found', found),
    });

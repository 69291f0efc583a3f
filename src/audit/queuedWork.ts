import { accountOf, type AuditedEvent, type AuditedEventOf, byType } from './auditedEvent.ts';
import { NO_END } from '../../domain/account/messages.ts';
import { compactSet, type CompactSet } from './streams.ts';
import { type Place, placeOf, wrong } from './findings.ts';
import type { AccountBook, Books } from './rules.ts';
import type { Tags } from '../../domain/kernel/tags.ts';
import { fullHoldIdOfOperation } from '../../domain/operation.ts';

/** Which worker may move a piece of queued work, by its stream. */
interface AuditedLease {
  readonly id: string;
  readonly held: boolean;
}

/** What an event of queued work says of its lease; members that it does not have are undefined. */
interface Leasing {
  readonly lease_id?: string;
  readonly lease_until?: string;
  readonly started_at?: string;
  readonly gave_up?: string | null;
}

interface Moved {
  readonly event: AuditedEvent & { readonly data: Leasing };
  /** Of the work, for the sentence. */
  readonly id: string;
}

/**
 * The lease after an event. All moves that name a lease need its owner. A claim takes it from its
 * owner: the claimant has watched the lease by its own clock, so the times of two machines in the log prove nothing.
 */
const leaseAfter = (
  lease: AuditedLease | null,
  { event, id }: Moved,
  say: (message: string) => void,
): AuditedLease | null => {
  const { lease_id, lease_until, started_at, gave_up } = event.data;
  if (lease_id === undefined) return lease;
  if (started_at === undefined) {
    if (lease?.held !== true || lease.id !== lease_id)
      say(`${id} was moved by a worker that does not own it.`);
    return lease_until === undefined ? lease : { id: lease_id, held: gave_up == null };
  }
  return { id: lease_id, held: true };
};

/** What of an acceptance the rules look at. */
export interface AcceptedWork {
  readonly id: string;
  readonly tenant_id: string;
  /** What its holds and burns name. */
  readonly work_id: string;
  /** null: it is not billed. */
  readonly hold_id: string | null;
  /** Its end has the same; left out: none. */
  readonly tags?: Tags | undefined;
}

/** A piece of work until it is over: it ended without success, or its charge was seen. */
interface AuditedPiece<Accepted extends AcceptedWork> {
  readonly accepted: Accepted;
  lease: AuditedLease | null;
  success: { readonly hold_id: string | null; readonly at: string; readonly place: Place } | null;
  /** A hold without an end that was released, and not placed again yet. */
  uncovered: Place | null;
}

type Move = AuditedEventOf<
  | 'OperationStarted'
  | 'OperationProgressed'
  | 'OperationSucceeded'
  | 'OperationFailed'
  | 'OperationCancelled'
  | 'TrainingJobStarted'
  | 'TrainingJobProgressed'
  | 'TrainingJobSucceeded'
  | 'TrainingJobFailed'
  | 'TrainingJobCancelled'
>;

/** One kind of work. */
interface QueueRules<Accepted extends AcceptedWork> {
  readonly check: 'operation' | 'pipeline';
  /** The holds that a success may name, beside the one of its acceptance. */
  readonly otherHolds: (accepted: Accepted) => readonly string[];
  /** What a burn must agree with. */
  readonly checkBurn: (
    accepted: Accepted,
    burn: AuditedEventOf<'CreditsBurned'>['data'],
    say: (message: string, expected: number, found: number) => void,
  ) => void;
}

interface Known<Accepted extends AcceptedWork> {
  readonly open: Map<string, AuditedPiece<Accepted>>;
  /** By what their burns and holds name. */
  readonly byWork: Map<string, AuditedPiece<Accepted>>;
  /** Both IDs of those that are over: nothing may happen to them any more. */
  readonly over: CompactSet;
}

interface LastingHold {
  readonly hold_id: string;
  readonly work: string;
  readonly tenant_id: string;
  readonly at: string;
  readonly place: Place;
}

const keyOf = (stream: string, holdId: string): string => `${stream} ${holdId}`;

/** The service bills within seconds; after a crash, another process within a minute or two. */
const BILLED_WITHIN_MS = 3_600_000;

/** The state of the check of one kind while it reads. */
interface Reading<Accepted extends AcceptedWork> extends QueueRules<Accepted> {
  readonly books: Books;
  readonly known: Known<Accepted>;
  /** Open holds without an end: where nobody has accepted their work, they are nobody's. */
  readonly holds: Map<string, LastingHold>;
}

const wrongIn = ({ books, check }: Pick<Reading<AcceptedWork>, 'books' | 'check'>, at: Place) =>
  wrong(books.findings, check, at);

const isCancelled = ({ type }: Move): boolean =>
  type === 'OperationCancelled' || type === 'TrainingJobCancelled';
const isFailed = ({ type }: Move): boolean => type === 'OperationFailed' || type === 'TrainingJobFailed';

const hasEnded = (event: Move): boolean =>
  isCancelled(event) || isFailed(event) || event.type.endsWith('Succeeded');

/** An end has the tags of its acceptance: messages are made of it alone. */
const checkTags = ({ id, tags }: AcceptedWork, { data }: Move, say: ReturnType<typeof wrong>): void => {
  const [expected, found] = [tags, 'tags' in data ? data.tags : undefined].map((one) =>
    JSON.stringify(one ?? {}),
  );
  if (expected !== found) say(`The end of ${id} has other tags than its acceptance.`, expected, found);
};

const checkCovered = (
  reading: Pick<Reading<AcceptedWork>, 'books' | 'check'>,
  piece: Pick<AuditedPiece<AcceptedWork>, 'accepted' | 'uncovered'>,
): boolean => {
  if (piece.uncovered === null) return true;
  wrongIn(reading, piece.uncovered)(`The hold of ${piece.accepted.id} was released while its work is open.`);
  return false;
};

/** Pieces of work, from their acceptance to their end. */
const piecesOf = <Accepted extends AcceptedWork>(reading: Reading<Accepted>) => {
  const { books, check, known, otherHolds } = reading;

  const close = ({ accepted: { id, work_id } }: AuditedPiece<Accepted>): void => {
    known.open.delete(id);
    known.byWork.delete(work_id);
    known.over.add(id);
    known.over.add(work_id);
  };
  const accepted = (event: AuditedEvent, data: Accepted, isCovered: boolean): void => {
    books.findings.checked(check);
    books.touch(`${check} ${data.id}`);
    books.touch(`work ${data.work_id}`);
    if (known.open.has(data.id) || known.over.has(data.id)) {
      wrongIn(reading, event)(`${data.id} was accepted twice, or after it was given up.`);
      return;
    }
    if (!isCovered) wrongIn(reading, event)(`${data.id} was accepted without an open hold.`);
    const piece = { accepted: data, lease: null, success: null, uncovered: null };
    known.open.set(data.id, piece);
    known.byWork.set(data.work_id, piece);
  };
  const succeeded = (piece: AuditedPiece<Accepted>, event: Move, holdId: string | null): void => {
    const own = piece.accepted.hold_id;
    if (holdId !== own && (own === null || !otherHolds(piece.accepted).includes(holdId ?? '')))
      wrongIn(reading, event)(`${piece.accepted.id} is to be settled from another's hold.`);
    const at = 'succeeded_at' in event.data ? event.data.succeeded_at : '';
    piece.success = { hold_id: holdId, at, place: placeOf(event) };
    if (own === null) close(piece);
  };
  /** The piece that an event is about; undefined, with a finding where it is wrong: there is none that may move. */
  const pieceOf = (event: Move, id: string): AuditedPiece<Accepted> | undefined => {
    const piece = known.open.get(id);
    if (piece?.success === null) return piece;
    if (piece === undefined && isCancelled(event) && !known.over.has(id)) {
      // Its request died before it was accepted: nobody may accept it any more.
      known.over.add(id);
      return undefined;
    }
    const ended = piece !== undefined || known.over.has(id);
    wrongIn(reading, event)(ended ? `${id} had ended already.` : `${id} was never accepted.`);
    return undefined;
  };
  /** `holdId`: of a success, which names it or not. Gives the piece, where there is one that may move. */
  const moved = (event: Move, id: string, holdId?: string | null): AuditedPiece<Accepted> | undefined => {
    books.findings.checked(check);
    const piece = pieceOf(event, id);
    if (piece === undefined) return undefined;
    if (!checkCovered(reading, piece)) piece.uncovered = null;
    piece.lease = leaseAfter(piece.lease, { event, id }, wrongIn(reading, event));
    if (hasEnded(event)) checkTags(piece.accepted, event, wrongIn(reading, event));
    if (isCancelled(event) || isFailed(event)) close(piece);
    if (event.type === 'OperationSucceeded' || event.type === 'TrainingJobSucceeded')
      succeeded(piece, event, holdId === undefined ? piece.accepted.hold_id : holdId);
    return piece;
  };
  return { accepted, moved, close };
};

/** What accounts say of the holds of pieces. */
const chargesOf = <Accepted extends AcceptedWork>(
  reading: Reading<Accepted>,
  close: (piece: AuditedPiece<Accepted>) => void,
) => {
  const { books, check, known, holds, checkBurn } = reading;
  const held = (event: AuditedEventOf<'CreditsHeld'>): void => {
    const { operation_id: work, hold_id, expires_at, created_at: at } = event.data;
    const piece = known.byWork.get(work);
    if (piece !== undefined) piece.uncovered = null;
    if (expires_at !== NO_END) return;
    const tenant_id = accountOf(event.stream) ?? '';
    holds.set(keyOf(event.stream, hold_id), { hold_id, work, tenant_id, at, place: placeOf(event) });
  };
  const released = (event: AuditedEventOf<'HoldReleased'>): void => {
    const key = keyOf(event.stream, event.data.hold_id);
    const piece = known.byWork.get(holds.get(key)?.work ?? '');
    holds.delete(key);
    // A training job may have another hold, of a request that died: that one may go.
    const isOwn = piece?.accepted.hold_id === event.data.hold_id || check === 'operation';
    if (piece?.success === null && isOwn) piece.uncovered = placeOf(event);
  };
  const charged = (event: AuditedEventOf<'CreditsBurned'>): void => {
    const { operation_id: work_id, hold_id } = event.data;
    holds.delete(keyOf(event.stream, hold_id ?? ''));
    books.touch(`work ${work_id}`);
    const piece = known.byWork.get(work_id);
    if (piece === undefined && !known.over.has(work_id)) return;
    books.findings.checked(check);
    const say = wrongIn(reading, event);
    if (piece?.success == null || piece.accepted.tenant_id !== accountOf(event.stream)) {
      say(`It bills ${work_id}, which is no work of this tenant that succeeded and was not billed yet.`);
      return;
    }
    const due = piece.success.hold_id;
    // Older releases placed an expired hold again, under a name of its own.
    if (due !== hold_id && `${due ?? ''}_again` !== hold_id)
      say(`${piece.accepted.id} was billed from another hold than it ended with.`, due, hold_id);
    checkBurn(piece.accepted, event.data, say);
    close(piece);
  };
  return { held, released, charged };
};

/** Work that waits, of one kind: one worker at a time, one end, and one charge for each success, from its own hold. */
export const queuedWorkCheck = <Accepted extends AcceptedWork>(books: Books, rules: QueueRules<Accepted>) => {
  const known: Known<Accepted> = { open: new Map(), byWork: new Map(), over: compactSet() };
  const reading: Reading<Accepted> = { ...rules, books, known, holds: new Map() };
  const { accepted, moved, close } = piecesOf(reading);

  const finish = (newest: string): void => {
    const before = newest === '' ? 0 : Date.parse(newest) - BILLED_WITHIN_MS;
    for (const piece of known.open.values()) {
      const { id, tenant_id } = piece.accepted;
      const { success } = piece;
      if (success === null) {
        checkCovered(reading, piece);
        continue;
      }
      const message = `${id} of ${tenant_id} succeeded and is not charged`;
      if (Date.parse(success.at) < before) wrongIn(reading, success.place)(`${message}.`);
      else books.findings.note(`${message} yet; the service does it.`);
    }
    for (const { hold_id, work, tenant_id, at, place } of reading.holds.values())
      if (!known.byWork.has(work) && Date.parse(at) < before)
        wrongIn(reading, place)(`Hold ${hold_id} of ${tenant_id} is open, and there is no work for it.`);
  };
  const isOver = (id: string) => known.over.has(id);
  return { accepted, moved, ...chargesOf(reading, close), finish, isOver };
};

interface Operation extends AcceptedWork {
  readonly pages: number;
}

/** Operations. `bookOf`: the account of a tenant, as the audit has added it up so far. */
export const operationsCheck = (books: Books, bookOf: (tenantId: string) => AccountBook | undefined) => {
  const queue = queuedWorkCheck<Operation>(books, {
    check: 'operation',
    otherHolds: ({ id }) => [fullHoldIdOfOperation(id)],
    checkBurn: ({ id, pages }, burn, say) => {
      if (pages !== burn.pages)
        say(`${id} was billed for other pages than it was accepted with.`, pages, burn.pages);
    },
  });
  return {
    apply: byType({
      OperationAccepted: (event) => {
        const { operation_id: id, tenant_id, work_id, hold_id, pages, file_sha256, tags } = event.data;
        // Older releases did not make sure of it.
        const isCovered =
          file_sha256 === undefined || hold_id === null || bookOf(tenant_id)?.holds.has(hold_id) === true;
        queue.accepted(event, { id, tenant_id, work_id, hold_id, tags, pages }, isCovered);
      },
      OperationStarted: (event) => void queue.moved(event, event.data.operation_id),
      OperationProgressed: (event) => void queue.moved(event, event.data.operation_id),
      OperationSucceeded: (event) => void queue.moved(event, event.data.operation_id, event.data.hold_id),
      OperationFailed: (event) => void queue.moved(event, event.data.operation_id),
      OperationCancelled: (event) => void queue.moved(event, event.data.operation_id),
      CreditsHeld: (event) => {
        if (event.data.operation !== 'training') queue.held(event);
      },
      HoldReleased: queue.released,
      CreditsBurned: queue.charged,
    }),
    finish: queue.finish,
  };
};

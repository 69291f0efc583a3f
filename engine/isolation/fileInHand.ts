import { openFile, type OpenFile } from '../formats/readDocument.ts';
import type { OpenedDocument } from '../formats/pieces/opened.ts';
import { received } from './children/fileBytes.ts';
import type { Job, SentJob } from './children/jobs.ts';
import type { ReceivedFile } from '../formats/pieces/received.ts';

/** What a child has open of one file, between the jobs of one request. */
interface Hand {
  readonly file: ReceivedFile;
  readonly opened: OpenedDocument;
}

/** The one file that a child may have open. Any job that is not of its request puts it away. */
interface FileInHand {
  /** A job with the bytes of its file: those of the file in hand, or those that are sent. */
  readonly take: (
    job: SentJob,
    ties: Pick<ReceivedFile, 'hurry' | 'onReading' | 'onPagesRead'>,
  ) => Job<ReceivedFile>;
  /** Gives what is open already; a file that is not, or was read, is opened. */
  readonly open: OpenFile;
  /** Whether it is still there after a job that was to keep it. Every other job puts it away. */
  readonly isKeptAfter: (job: SentJob) => boolean;
  readonly putAway: () => void;
  /** Files that were opened since the last call. */
  readonly openings: () => number;
}

export function fileInHand(): FileInHand {
  let hand: Hand | undefined;
  let openings = 0;
  const openAnew: OpenFile = (file) => {
    openings += 1;
    return openFile(file);
  };
  return {
    take: (job, ties) => {
      const stays = 'file' in job ? job.file.bytesCount === null : job.beside === true;
      if (!stays) hand = undefined;
      const taken = received(job, hand?.file.bytes);
      return 'file' in taken ? { ...taken, file: { ...taken.file, ...ties } } : taken;
    },
    open: async (file) => {
      if (hand !== undefined && isSame(hand.file, file)) return hand.opened;
      const opened = await openAnew(file);
      if (opened.kind !== 'open') return opened;
      hand = { file, opened: readOnce(file, { opened, openAnew }) };
      return hand.opened;
    },
    isKeptAfter: (job) => {
      const stays = 'file' in job ? job.file.keep : job.beside === true;
      if (!stays) hand = undefined;
      return hand !== undefined;
    },
    putAway: () => {
      hand = undefined;
    },
    openings: () => {
      const count = openings;
      openings = 0;
      return count;
    },
  };
}

/** Attachments are opened as the request wants them read, so the effort counts too. */
const isSame = (one: ReceivedFile, other: ReceivedFile): boolean =>
  one.bytes === other.bytes &&
  one.fileName === other.fileName &&
  one.effort === other.effort &&
  one.pagesMax === other.pagesMax &&
  one.pages === other.pages &&
  one.password === other.password;

/** An opened document is read once: reading it again opens the file anew. */
function readOnce(
  file: ReceivedFile,
  { opened, openAnew }: { readonly opened: OpenedDocument; readonly openAnew: OpenFile },
): OpenedDocument {
  let unread: OpenedDocument | undefined = opened;
  return {
    ...opened,
    read: async () => {
      const first = unread;
      unread = undefined;
      const toRead = first ?? (await openAnew(file));
      return toRead.kind === 'open' ? toRead.read() : toRead;
    },
  };
}

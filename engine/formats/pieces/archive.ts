import { unzipSync } from 'fflate';

/** What an archive may grow to, and how many members it may have. */
export interface ArchiveLimits {
  readonly bytesMax: number;
  readonly membersMax: number;
}

/** Text of people packs to a fifth, tables to a fiftieth: what grows more than this is made to. */
const GROWS_MAX = 200;
/** A small archive may grow to so much whatever its size. */
const GROWN_ALWAYS = 4 * 1024 * 1024;

const ARCHIVE_LIMITS: ArchiveLimits = { bytesMax: 256 * 1024 * 1024, membersMax: 10_000 };

export type Archive =
  | { readonly kind: 'archive'; readonly members: ReadonlyMap<string, Uint8Array> }
  | { readonly kind: 'unreadable'; readonly detail: string };

class Refused extends Error {}

/**
 * The wanted members of a ZIP archive; others cost nothing. It may grow with its own size, within the limits.
 * The sizes in the directory are added up
 * before anything is inflated, and no member is inflated beyond the size that it declares: so a bomb
 * cannot lie.
 */
export function unzip(
  bytes: Uint8Array,
  wanted: (name: string) => boolean,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Archive {
  const bytesMax = Math.min(limits.bytesMax, GROWN_ALWAYS + GROWS_MAX * bytes.length);
  let grown = 0;
  let seen = 0;
  try {
    const members = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        seen += 1;
        if (seen > limits.membersMax)
          throw new Refused(`The archive has more than ${limits.membersMax} members.`);
        if (!wanted(name)) return false;
        grown += originalSize;
        if (grown > bytesMax)
          throw new Refused(`The archive grows to more than ${bytesMax >> 20} MiB when unpacked.`);
        return true;
      },
    });
    return { kind: 'archive', members: new Map(Object.entries(members)) };
  } catch (error) {
    return {
      kind: 'unreadable',
      detail: error instanceof Refused ? error.message : 'The archive is damaged.',
    };
  }
}

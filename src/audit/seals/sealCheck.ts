import type { AuditedChains, StoredWatcher } from '../log/chainsCheck.ts';
import { wrong, type Findings } from '../findings.ts';
import type { GivenSeal, Seal } from './seal.ts';

/** The items by a text that each has. */
const grouped = <T>(items: readonly T[], by: (item: T) => string): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(by(item)) ?? [];
    group.push(item);
    groups.set(by(item), group);
  }
  return groups;
};

interface SealCheck {
  readonly watcher: Required<StoredWatcher>;
  readonly finish: (audited: Pick<AuditedChains, 'heads'>) => void;
}

/** Verifies that the last event of every sealed stream is still in the log, as it was. */
const headsCheck = (
  all: Findings,
  { heads, made_at }: Seal,
): SealCheck & { readonly isBroken: () => boolean } => {
  let broken = false;
  const findings: Pick<Findings, 'add' | 'checked'> = {
    checked: all.checked,
    add: (finding) => {
      broken = true;
      all.add(finding);
    },
  };
  const open = new Map(
    heads.map(([stream, revision, hash]) => [stream, { revision: BigInt(revision), hash }]),
  );
  findings.checked('seal', heads.length);
  return {
    isBroken: () => broken,
    watcher: {
      stored: (event, hash) => {
        const { stream, revision } = event;
        const sealed = open.get(stream);
        if (sealed?.revision !== revision) return;
        open.delete(stream);
        if (sealed.hash === hash) return;
        wrong(findings, 'seal', event)(
          `${stream} revision ${revision} is not the event that was sealed at ${made_at}: the stream was rewritten.`,
          sealed.hash.slice(0, 16),
          hash.slice(0, 16),
        );
      },
    },
    finish: (audited) => {
      if (open.size === 0) return;
      const ends = new Map<string, bigint>();
      for (const [stream, { revision }] of audited.heads()) if (open.has(stream)) ends.set(stream, revision);
      for (const [stream, { revision }] of open) {
        const end = ends.get(stream);
        findings.add({
          check: 'seal',
          stream,
          revision: revision.toString(),
          message: `${stream} has lost events: it had revision ${revision} when it was sealed at ${made_at}.`,
          expected: `revision ${revision}`,
          found: end === undefined ? 'no such stream' : `ends at revision ${end}`,
        });
      }
    },
  };
};

/** A seal by its digest over the whole log. */
interface Sealed {
  readonly position: string;
  readonly made_at: string;
  readonly log_digest: string;
  readonly from: string;
}

const digested = ({ seal, from }: GivenSeal): readonly Sealed[] =>
  seal.seal_version === 1 || seal.position === null
    ? []
    : [{ position: seal.position, made_at: seal.made_at, log_digest: seal.log_digest, from }];

const inOrder = (a: Sealed, b: Sealed): number => (BigInt(a.position) < BigInt(b.position) ? -1 : 1);

/**
 * Verifies the digests over the whole log. One wrong breaks every later seal: the first of each place where
 * seals are kept is told, with the last one before it that holds.
 */
const digestsCheck = (findings: Findings, seals: readonly Sealed[]): SealCheck => {
  const byPosition = grouped(seals, ({ position }) => position);
  const held = new Set<Sealed>();
  if (seals.length > 0) findings.checked('seal', seals.length);
  return {
    watcher: {
      stored: ({ position }, _, digest) => {
        for (const sealed of byPosition.get(position.toString()) ?? [])
          if (sealed.log_digest === digest) held.add(sealed);
      },
    },
    finish: () => {
      for (const [from, kept] of grouped(seals, ({ from }) => from)) {
        const sorted = [...kept].sort(inOrder);
        const broken = sorted.find((sealed) => !held.has(sealed));
        if (broken === undefined) continue;
        const before = sorted.filter((sealed) => held.has(sealed) && inOrder(sealed, broken) < 0).at(-1);
        const since =
          before === undefined
            ? ''
            : ` The seal of ${before.made_at}, up to position ${before.position}, holds.`;
        findings.add({
          check: 'seal',
          position: broken.position,
          message:
            `Up to position ${broken.position} the log differs from the one sealed at ` +
            `${broken.made_at} (${from}): events were changed, moved, inserted or removed.${since}`,
          expected: broken.log_digest.slice(0, 16),
        });
      }
    },
  };
};

/** Verifies the log against every seal that there is. */
export const sealsCheck = (findings: Findings, given: readonly GivenSeal[]): SealCheck => {
  const heads = given.flatMap(({ seal }) => ('heads' in seal ? [headsCheck(findings, seal)] : []));
  const digests = digestsCheck(findings, given.flatMap(digested));
  const watchers = [...heads, digests].map(({ watcher }) => watcher);
  return {
    watcher: {
      stored: (event, hash, digest) => {
        for (const watcher of watchers) watcher.stored(event, hash, digest);
      },
    },
    finish: (audited) => {
      for (const { finish } of heads) finish(audited);
      // Where streams are named already, the digest says no more.
      if (!heads.some(({ isBroken }) => isBroken())) digests.finish(audited);
    },
  };
};

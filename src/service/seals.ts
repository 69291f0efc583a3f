import { messageOf, SEALS_STREAM } from '../../domain/kernel/json.ts';
import type { LockedObjects, ObjectStore } from '../../domain/ports/services.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import type { SealEvent } from '../../domain/finding.ts';
import { logSealer, SEALS_PREFIX, type LogSealer } from '../commands/sealing.ts';
import { ownEventsIn, sealsInStore, type GivenSeal } from '../audit/chains.ts';
import type { Config } from '../config.ts';
import type { SomeFactories } from './context.ts';

const FOLDER =
  'The embedded folder of objects cannot lock them, so seals in it could be removed: set ' +
  'S3_ENDPOINT and its fellows to a bucket with object lock, or leave seals out of the ' +
  'object store.';

/** Where seals can be put so that nobody changes them. */
export const openLockedObjects = async ({ s3 }: Pick<Config, 's3'>): Promise<LockedObjects> => {
  if (s3 === undefined)
    return { refusal: () => Promise.resolve(FOLDER), putLocked: () => Promise.reject(new Error(FOLDER)) };
  const { minioLockedObjects } = await import('../../adapters/minio.ts');
  return minioLockedObjects(s3);
};

/** As `openLockedObjects`, opened when it is asked for something. */
const lockedLater = (config: Config): LockedObjects => ({
  refusal: async () => (await openLockedObjects(config)).refusal(),
  putLocked: async (...args) => (await openLockedObjects(config)).putLocked(...args),
});

const MINUTE_MS = 60_000;

/** Seals the log by the service itself, where SEAL_EVERY_MINUTES says so. */
export const sealerParts = {
  lockedObjects: (from) => lockedLater(from.config),
  logSealer: (from): LogSealer | null => {
    const { seals } = from.config;
    if (seals === undefined) return null;
    const logger = from.logger;
    return logSealer({
      log: from.parts.log,
      locked: from.lockedObjects,
      clock: from.clock,
      everyMs: seals.everyMinutes * MINUTE_MS,
      retainDays: seals.retentionDays ?? null,
      onSeal: ({ seal, object }) =>
        logger.info({ msg: 'sealed', position: seal.position, events: seal.events, object: object?.key }),
      onError: (err) => logger.error({ msg: 'the log could not be sealed', err }),
    });
  },
} satisfies SomeFactories;

/** Every seal that can be found: in the log itself, and in the object store if that is S3. */
export interface FoundSeals {
  readonly seals: readonly GivenSeal[];
  /** Where events of a copied log lay first. */
  readonly origins: readonly string[];
  /** What is wrong with them, before any is compared. */
  readonly flaws: readonly string[];
  /** What could not be looked at. */
  readonly notes: readonly string[];
}

/** The bucket of the configuration, for reading; undefined: objects lie in a folder. */
export const openS3 = async ({ s3 }: Pick<Config, 's3'>): Promise<ObjectStore | undefined> => {
  if (s3 === undefined) return undefined;
  const { clientOf, objectsIn } = await import('../../adapters/minio.ts');
  return objectsIn(clientOf(s3), s3.bucket);
};

/** Seals that were locked away and should still be there. */
const lostOf = (
  inLog: readonly SealEvent['data'][],
  keys: readonly string[],
  now: string,
): readonly string[] =>
  inLog.flatMap(({ object }) =>
    object === null || object.retained_until <= now || keys.includes(object.key)
      ? []
      : [`${object.key} was locked in the object store until ${object.retained_until} and is not there.`],
  );

/** Finds what was sealed before. An object store that is away is a note: the audit goes on without it. */
export const findSeals = async (
  config: Pick<Config, 's3'>,
  feed: Pick<EventFeed, 'subscribe'>,
  now: string,
): Promise<FoundSeals> => {
  const { seals: inLog, origins } = await ownEventsIn(feed);
  const given = inLog.map(({ seal }) => ({ seal, from: SEALS_STREAM }));
  const objects = await openS3(config);
  if (objects === undefined) return { seals: given, origins, flaws: [], notes: [] };
  try {
    const { seals, keys, flaws } = await sealsInStore(objects, SEALS_PREFIX);
    const lost = lostOf(inLog, keys, now);
    return { seals: [...given, ...seals], origins, flaws: [...flaws, ...lost], notes: [] };
  } catch (error) {
    return {
      seals: given,
      origins,
      flaws: [],
      notes: [`Seals in the object store were not looked at: ${messageOf(error)}`],
    };
  }
};

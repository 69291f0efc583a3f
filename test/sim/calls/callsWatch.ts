import { isDeepStrictEqual } from 'node:util';
import type { ProjectedEventOf } from '../../../projections/engine/ports.ts';
import { resultKeyOf, type StoredResult } from '../../../src/commands/storedResult.ts';
import { fullKeyOf } from '../actors.ts';
import type { started } from '../known.ts';
import { EPOCH_MS } from '../scheduler.ts';
import type { Told, WatchDeps } from '../told.ts';

interface Watched {
  readonly say: (id: string, text: string) => void;
  readonly known: () => ReturnType<typeof started>;
  /** For as long a key names the same request, ms. */
  readonly keyKeptMs: number;
}

/** Watches that a call is billed once, and answered with what was paid for, whoever did its work. */
export const callsWatch = ({ world, sched, raw, told }: WatchDeps, { say, known, keyKeptMs }: Watched) => {
  const calls = new Map(
    world.actors.flatMap((actor) => (actor.kind === 'now' ? [[fullKeyOf(actor), actor] as const] : [])),
  );

  const keep = async (workId: string, digest: string | undefined): Promise<void> => {
    if (digest === undefined) return;
    const key = resultKeyOf(workId, digest);
    const bytes = await raw.get(key);
    if (bytes === undefined) return;
    const { body } = JSON.parse(new TextDecoder().decode(bytes)) as StoredResult;
    known().paidResults.set(workId, { key, text: JSON.stringify(body['result']), until: Infinity });
  };

  return {
    /** `key`: of the request that it is for. */
    burned: ({ data }: ProjectedEventOf<'CreditsBurned'>, key: string): void => {
      const { burnsOfCalls, firstBurns } = known();
      const call = calls.get(key);
      if (call === undefined) return;
      void keep(data.operation_id, data.delivered?.result_sha256);
      const burns = burnsOfCalls.get(key) ?? new Set();
      // An append may take effect long after its decision, and a key is kept from that.
      if (burns.size === 0) firstBurns.set(key, Date.parse(data.created_at) - EPOCH_MS);
      burnsOfCalls.set(key, burns.add(data.operation_id));
      // A key names the same call for a day: what was sent then and comes later is another one.
      if (burns.size > 1 && sched.nowMs() - (firstBurns.get(key) ?? 0) < keyKeptMs)
        say('billed-twice', `the call with the key ${call.key} was billed ${String(burns.size)} times`);
    },
    removed: (key: string): void => {
      for (const paid of known().paidResults.values()) if (paid.key === key) paid.until = sched.nowMs();
    },
    /** Whoever asks again within a day is answered what was paid for, and what was kept then. */
    look: (): void => {
      if (told.restoredAt >= 0) return;
      const first = new Map<string, Told['answers'][number]>();
      for (const one of told.answers) {
        if (one.actor.kind !== 'now') continue;
        const { actor, answer, at } = one;
        const before = first.get(fullKeyOf(actor)) ?? one;
        first.set(fullKeyOf(actor), before);
        if (at - before.at < keyKeptMs && !isDeepStrictEqual(answer.body, before.answer.body))
          say('answered-differently', `the call with the key ${actor.key} was answered in two ways`);
        const kept = known().paidResults.get(answer.id);
        if (kept !== undefined && at < kept.until && kept.text !== JSON.stringify(answer.body))
          say('answered-otherwise', `the call with the key ${actor.key} got another result than is kept`);
      }
    },
  };
};

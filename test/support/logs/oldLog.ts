import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { canonicalJson, chainHash, eventIdOfHash, eventText } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { EventFeed, TextVault } from '../../../domain/ports/log.ts';
import { tokensIn, withoutTokens } from '../../../domain/eventLog/writtenText.ts';
import { everything } from '../../../src/audit/streams.ts';

/**
 * Writes the history of a log to a new file as a release from before the vault would have: every text stands in its
 * event, and all hashes are over that. Gives how many events there are.
 */
export const writeOldLog = async (
  { feed, vault }: { readonly feed: Pick<EventFeed, 'subscribe'>; readonly vault: TextVault | undefined },
  path: string,
): Promise<number> => {
  const log = openSqliteEventLog({ path });
  const hashes = new Map<string, string>();
  let events = 0;
  for await (const { stream, revision, type, data, metadata } of everything(feed)) {
    const texts =
      (await vault?.texts(tokensIn(canonicalJson([data, metadata])))) ?? new Map<string, string>();
    const clear = (value: JsonObject) => withoutTokens(value, (token) => texts.get(token)) as JsonObject;
    const covered = { ...clear(metadata), prev_hash: hashes.get(stream) ?? null };
    const event = { stream, revision, type, data: clear(data) };
    const hash = chainHash({ ...event, metadata: covered });
    hashes.set(stream, hash);
    const whole = { ...event, metadata: { ...covered, hash }, id: eventIdOfHash(hash) };
    const text = eventText(canonicalJson(whole.data), canonicalJson(whole.metadata));
    const appended = await log.append(stream, revision === 0n ? 'no_stream' : revision - 1n, [
      { ...whole, text },
    ]);
    if (appended.kind !== 'appended') throw new Error(`${stream} was not appended: ${appended.kind}`);
    events += 1;
  }
  await log.close();
  return events;
};
